"""Small undelegated programs lowered by ExecuTorch itself, for running here and in its runtime."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import torch
from executorch.exir import EdgeCompileConfig, ExecutorchBackendConfig, to_edge
from executorch.exir.passes import MemoryPlanningPass
from torch import Tensor, nn
from torch.export import Dim, export

Inputs = tuple[Tensor, ...]


class Add(nn.Module):
    def forward(self, a: Tensor, b: Tensor) -> Tensor:
        return a + b


class Mlp(nn.Module):
    """Linear layers, a view, a permute and several outputs in several dtypes."""

    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = nn.Linear(6, 8), nn.Linear(8, 4)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        y = self.two(torch.relu(self.one(x)))
        return y.view(2, 2, 2).permute(2, 0, 1), y.argmax(-1), y.to(torch.bfloat16)


class ConvNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv, self.norm = nn.Conv2d(3, 5, 3, padding=1), nn.BatchNorm2d(5)

    def forward(self, x: Tensor) -> Tensor:
        return nn.functional.max_pool2d(torch.relu(self.norm(self.conv(x))), 2)


class Accumulator(nn.Module):
    """State with a zero and with a non-zero first value, in two dtypes."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(1, 4))
        self.register_buffer("steps", torch.zeros(1, dtype=torch.int64))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.total.add_(x)
        self.steps.add_(1)
        return self.total * 2, self.steps + 0


class Choice(nn.Module):
    """Control flow: both branches of a ``torch.cond``."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.sum() > 0, lambda x: x * 2, lambda x: x - 1, (x,))


class Split(nn.Module):
    """An operator whose out is a list."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        a, b = torch.split(x, 2, dim=1)
        return torch.cat([b, a], dim=1), torch.stack([a, b])


class Gather(nn.Module):
    """Optional tensors in a list."""

    def forward(self, x: Tensor, i: Tensor) -> Tensor:
        return x[:, i]


class Rows(nn.Module):
    """Any number of rows, up to a bound."""

    def __init__(self) -> None:
        super().__init__()
        self.one = nn.Linear(6, 8)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        y = torch.tanh(self.one(x))
        return y, y.sum(0)


@dataclass(frozen=True)
class Case:
    """A model, a way to make inputs for its n-th call, and the shapes that may vary."""

    model: Callable[[], nn.Module]
    inputs: Callable[[int], Inputs]
    dynamic: dict[str, dict[int, object]] | None = None


def _random(*sizes: int) -> Callable[[int], Inputs]:
    return lambda step: (torch.randn(*sizes, generator=torch.Generator().manual_seed(step)),)


CASES: dict[str, Case] = {
    "add": Case(Add, lambda n: (torch.ones(2, 2) * n, torch.full((2, 2), 3.0))),
    "mlp": Case(Mlp, _random(2, 6)),
    "conv_net": Case(ConvNet, _random(1, 3, 8, 8)),
    "accumulator": Case(Accumulator, _random(1, 4)),
    "choice": Case(Choice, lambda n: (torch.full((3,), float(n) - 1),)),
    "split": Case(Split, _random(3, 4)),
    "gather": Case(Gather, lambda n: (torch.randn(2, 5), torch.tensor([n, 0, 4]))),
    "dynamic": Case(
        Rows,
        lambda n: (torch.randn(n + 2, 6),),
        {"x": {0: Dim("rows", min=2, max=16)}},
    ),
}


def lower(case: Case, model: nn.Module) -> bytes:
    """ExecuTorch's portable program of a model."""
    exported = export(model, case.inputs(0), dynamic_shapes=case.dynamic, strict=True)
    edge = to_edge(exported, compile_config=EdgeCompileConfig(_check_ir_validity=False))
    config = ExecutorchBackendConfig(
        memory_planning_pass=MemoryPlanningPass(), emit_mutable_buffer_names=True
    )
    return edge.to_executorch(config).buffer
