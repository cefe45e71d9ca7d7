"""Programs that ExecuTorch itself makes, of every kind that its exporter knows."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import torch
from executorch.exir import ExecutorchBackendConfig, to_edge, to_edge_transform_and_lower
from torch import nn
from torch.export import Dim, export

Inputs = tuple[torch.Tensor, ...]


@dataclass
class Made:
    """A program file, its data files, and inputs for the methods that can be run here."""

    pte: bytes
    inputs: dict[str, Inputs] = field(default_factory=dict)
    data: dict[str, bytes] = field(default_factory=dict)


def mlp() -> nn.Module:
    torch.manual_seed(0)
    return nn.Sequential(nn.Linear(16, 32), nn.ReLU(), nn.Linear(32, 8)).eval()


class Counter(nn.Module):
    """A buffer that begins at a value of its own and is written in every call."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.arange(8.0).reshape(2, 4))
        self.register_buffer("calls", torch.zeros(1))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.total.add_(x)
        self.calls.add_(1)
        return self.total * self.calls


class Block(nn.Module):
    """Several outputs, views, lists and scalars among the values."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.norm, self.lstm = nn.LayerNorm(8), nn.LSTM(8, 8)

    def forward(self, x: torch.Tensor, y: torch.Tensor) -> tuple[torch.Tensor, ...]:
        a, b = torch.split(self.norm(x), 2)
        z, _ = self.lstm(a.view(2, 1, 8))
        return z, torch.max(b, dim=1)[0], torch.where(y > 0, y, 1.5), x.reshape(-1)[3:20]


X = torch.linspace(-1, 1, 16).reshape(1, 16)


def _bytes(
    manager: Any, config: ExecutorchBackendConfig | None = None
) -> tuple[bytes, dict[str, bytes]]:
    """The program file and the data files beside it."""
    program = manager.to_executorch(config) if config else manager.to_executorch()
    data = {name: bytes(data) for name, data in program._tensor_data.items()}
    return bytes(program.buffer), data


def portable() -> Made:
    inputs = (torch.linspace(-2, 2, 32).reshape(4, 8), torch.linspace(-1, 1, 6).reshape(2, 3))
    pte, _ = _bytes(to_edge(export(Block().eval(), inputs)))
    return Made(pte, {"forward": inputs})


def with_stacktraces() -> Made:
    config = ExecutorchBackendConfig(emit_stacktrace=True)
    pte, _ = _bytes(to_edge(export(mlp(), (X,))), config)
    return Made(pte, {"forward": (X,)})


def aligned() -> Made:
    config = ExecutorchBackendConfig(segment_alignment=4096, constant_tensor_alignment=64)
    pte, _ = _bytes(to_edge(export(mlp(), (X,))), config)
    return Made(pte, {"forward": (X,)})


def external_constants() -> Made:
    config = ExecutorchBackendConfig(external_constants=True)
    pte, data = _bytes(to_edge(export(mlp(), (X,))), config)
    return Made(pte, {"forward": (X,)}, data)


def mutable() -> Made:
    from executorch.exir.passes.init_mutable_pass import InitializedMutableBufferPass

    config = ExecutorchBackendConfig(
        passes=[InitializedMutableBufferPass(["total"])], emit_mutable_buffer_names=True
    )
    x = torch.ones(2, 4)
    pte, _ = _bytes(to_edge(export(Counter(), (x,))), config)
    return Made(pte, {"forward": (x,)})


def multi_method() -> Made:
    programs = {"forward": export(mlp(), (X,)), "double": export(nn.Identity(), (X,))}
    pte, _ = _bytes(to_edge(programs, constant_methods={"get_max_seq_len": 128, "get_name": "m"}))
    return Made(pte, {"forward": (X,)})


def dynamic() -> Made:
    shapes = {"input": {0: Dim("batch", min=1, max=8)}}
    exported = export(mlp(), (X.repeat(3, 1),), dynamic_shapes=shapes)
    return Made(_bytes(to_edge(exported))[0], {"forward": (X.repeat(5, 1),)})


def training() -> Made:
    from torch.export.experimental import _export_forward_backward

    class Loss(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.net = mlp()

        def forward(self, x: torch.Tensor, label: torch.Tensor) -> tuple[torch.Tensor, ...]:
            out = self.net(x)
            return nn.functional.cross_entropy(out, label), out.detach()

    inputs = (X, torch.tensor([3]))
    joint = _export_forward_backward(export(Loss(), inputs))
    return Made(_bytes(to_edge(joint))[0], {"forward": inputs})


def _xnnpack() -> Any:
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

    return XnnpackPartitioner()


def xnnpack() -> Made:
    """Weights in named data."""
    manager = to_edge_transform_and_lower(export(mlp(), (X,)), partitioner=[_xnnpack()])
    return Made(_bytes(manager)[0], {"forward": (X,)})


def xnnpack_inline() -> Made:
    """The payload in the flatbuffer."""
    manager = to_edge_transform_and_lower(export(mlp(), (X,)), partitioner=[_xnnpack()])
    config = ExecutorchBackendConfig(extract_delegate_segments=False)
    return Made(_bytes(manager, config)[0], {"forward": (X,)})


def xnnpack_external() -> Made:
    from executorch.exir.passes.external_constants_pass import (
        delegate_external_constants_pass_unlifted,
    )

    module = export(mlp(), (X,), strict=True).module()
    delegate_external_constants_pass_unlifted(module=module, gen_tag_fn=lambda node: "weights")
    exported = export(module, (X,), strict=True)
    manager = to_edge_transform_and_lower(exported, partitioner=[_xnnpack()])
    pte, data = _bytes(manager)
    return Made(pte, {"forward": (X,)}, data)


def xnnpack_quantised() -> Made:
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    quantizer = XNNPACKQuantizer().set_global(
        get_symmetric_quantization_config(is_per_channel=True)
    )
    prepared = prepare_pt2e(export(mlp(), (X,)).module(), quantizer)
    prepared(X)
    exported = export(convert_pt2e(prepared), (X,))
    manager = to_edge_transform_and_lower(exported, partitioner=[_xnnpack()])
    return Made(_bytes(manager)[0], {"forward": (X,)})


def _core_ml(programs: Any, take_over: bool = False) -> Made:
    import coremltools as ct
    from executorch.backends.apple.coreml.compiler import CoreMLBackend
    from executorch.backends.apple.coreml.partition import CoreMLPartitioner

    specs = CoreMLBackend.generate_compile_specs(minimum_deployment_target=ct.target.iOS18)
    partitioner = CoreMLPartitioner(compile_specs=specs, take_over_mutable_buffer=take_over)
    return Made(_bytes(to_edge_transform_and_lower(programs, partitioner=[partitioner]))[0])


def core_ml() -> Made:
    return _core_ml(export(mlp(), (X,)))


def core_ml_state() -> Made:
    class Accumulator(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.zeros(4, 8, dtype=torch.float16))

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.total.add_(x)
            return self.total * 2

    x = torch.zeros(4, 8, dtype=torch.float16)
    return _core_ml(export(Accumulator().eval(), (x,)), take_over=True)


def core_ml_multifunction() -> Made:
    """The model once, in named data; the delegates refer to it."""
    model = mlp()
    longer = X.repeat(4, 1)
    return _core_ml({"decode": export(model, (X,)), "prefill": export(model, (longer,))})


MAKERS: dict[str, Callable[[], Made]] = {
    maker.__name__: maker
    for maker in (
        portable,
        with_stacktraces,
        aligned,
        external_constants,
        mutable,
        multi_method,
        dynamic,
        training,
        xnnpack,
        xnnpack_inline,
        xnnpack_external,
        xnnpack_quantised,
        core_ml,
        core_ml_state,
        core_ml_multifunction,
    )
}
