"""Branches and loops as jumps, run by ExecuTorch itself and here; and those of ExecuTorch here."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
import torch
from torch import Tensor, nn
from torch._higher_order_ops import map as map_
from torch._higher_order_ops import scan, while_loop
from torch.export import Dim
from torch.utils import _pytree

import pteron
from pteron.lowering import CoreML, lower

from .reference import ExecuTorchProgram

NO = torch.zeros((), dtype=torch.int64)


class Branches(nn.Module):
    """Several results, one of them a number's tensor, and weights of the model in both."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        def one(x: Tensor) -> tuple[Tensor, Tensor]:
            return self.linear(x), x.sum()

        def other(x: Tensor) -> tuple[Tensor, Tensor]:
            return self.linear(x * 2) - 1, nn.functional.silu(x).mean()

        return torch.cond(x.sum() > 0, one, other, (x,))


class NestedBranches(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        def inner(x: Tensor) -> Tensor:
            return torch.cond(x.max() > 1, lambda x: x + 10, lambda x: x + 20, (x,))

        return torch.cond(x.sum() > 0, inner, lambda x: x - 1, (x,))


class BranchOnSize(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.cond(x.shape[0] > 3, lambda x: x * 2, lambda x: x - 1, (x,))


class Loop(nn.Module):
    """Values that change places as they go round."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(3, 3)

    def forward(self, i: Tensor, x: Tensor) -> tuple[Tensor, ...]:
        def step(i: Tensor, x: Tensor, y: Tensor) -> tuple[Tensor, ...]:
            return i + 1, y.clone(), self.linear(x) + y

        return while_loop(lambda i, x, y: i < 4, step, (i, x, x * 2))


class CountedLoop(nn.Module):
    """A plain number that goes round."""

    def forward(self, x: Tensor) -> Tensor:
        return while_loop(lambda i, y: i < 3, lambda i, y: (i + 1, y * 2), (0, x))[1] + 1


class LoopInBranch(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        def grow(x: Tensor) -> Tensor:
            return while_loop(lambda y: y.sum() < 9, lambda y: (y + 1,), (x,))[0]

        return torch.cond(x.sum() > 0, grow, lambda x: x.clone(), (x,))


class Map(nn.Module):
    def forward(self, x: Tensor, y: Tensor) -> Tensor:
        return map_(lambda row, y: row.sin() + y, x, y)


class Scan(nn.Module):
    def forward(self, first: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        return scan(lambda c, row: (c + row, c * row), first, x)


class BackwardScan(nn.Module):
    def forward(self, first: Tensor, x: Tensor) -> tuple[Tensor, Tensor]:
        def step(c: Tensor, row: Tensor) -> tuple[Tensor, Tensor]:
            return c + row, (c * row).sum(0)

        return scan(step, first, x, dim=1, reverse=True)


@dataclass(frozen=True)
class Case:
    model: Callable[[], nn.Module]
    inputs: Callable[[int], tuple[Any, ...]]
    dynamic: Any = None


def _randn(*shapes: tuple[int, ...]) -> Callable[[int], tuple[Any, ...]]:
    def make(step: int) -> tuple[Any, ...]:
        generator = torch.Generator().manual_seed(step)
        return tuple(torch.randn(shape, generator=generator) for shape in shapes)

    return make


CASES = {
    "branches": Case(Branches, _randn((2, 3))),
    "nested_branches": Case(NestedBranches, _randn((2, 3))),
    "branch_on_size": Case(
        BranchOnSize,
        lambda step: (torch.ones(step + 2, 3),),
        {"x": {0: Dim("n", min=2, max=8)}},
    ),
    "loop": Case(Loop, lambda step: (NO + step, torch.ones(2, 3) * step)),
    "counted_loop": Case(CountedLoop, _randn((2, 3))),
    "loop_in_branch": Case(LoopInBranch, _randn((2, 3))),
    "map": Case(Map, _randn((4, 3), (3,))),
    "map_of_any_length": Case(
        Map,
        lambda step: (torch.ones(step + 2, 3) * step, torch.ones(3)),
        {"x": {0: Dim("n", min=2, max=8)}, "y": None},
    ),
    "scan": Case(Scan, _randn((3,), (5, 3))),
    "backward_scan": Case(BackwardScan, _randn((2, 3), (2, 5, 3))),
}
QUICK = {"branches", "loop", "map_of_any_length", "scan"}
NAMES = [pytest.param(n, marks=() if n in QUICK else pytest.mark.slow) for n in CASES]
EXECUTORCH_LOWERS = ("branches", "nested_branches", "map", "scan")
"""Cases that ExecuTorch's own emitter takes; it knows no ``while_loop``."""


def _build(case: Case) -> nn.Module:
    torch.manual_seed(3)
    return case.model().eval().requires_grad_(False)


def _compare(case: Case, model: nn.Module, run: Callable[..., Any], **tolerance: float) -> None:
    for step in (1, 2, 0, 3):
        inputs = case.inputs(step)
        with torch.no_grad():
            wanted = _pytree.tree_leaves(model(*inputs))
        for got, want in zip(_pytree.tree_leaves(run(*inputs)), wanted, strict=True):
            torch.testing.assert_close(torch.as_tensor(got), want, **tolerance)


@pytest.mark.parametrize("name", NAMES)
def test_executorch_and_pteron_run_it(name: str) -> None:
    case = CASES[name]
    model = _build(case)
    file = lower(copy.deepcopy(model), case.inputs(0), dynamic_shapes=case.dynamic, backend=None)
    _compare(case, model, ExecuTorchProgram(file).run)
    _compare(case, model, pteron.load(file, cache=None).forward)


@pytest.mark.parametrize("name", NAMES)
def test_it_stays_with_the_program_beside_delegates(name: str) -> None:
    case = CASES[name]
    model = _build(case)
    file = lower(
        copy.deepcopy(model),
        case.inputs(0),
        dynamic_shapes=case.dynamic,
        backend=CoreML(compute_precision="float32"),
    )
    module = pteron.load(file, cache=None)
    _compare(case, model, module.forward, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("name", EXECUTORCH_LOWERS)
def test_what_executorch_lowered_runs_here(name: str) -> None:
    from executorch.exir import EdgeCompileConfig, to_edge

    case = CASES[name]
    model = _build(case)
    with torch.no_grad():
        exported = torch.export.export(model, case.inputs(0), dynamic_shapes=case.dynamic)
    edge = to_edge(exported, compile_config=EdgeCompileConfig(_check_ir_validity=False))
    file = pteron.open(edge.to_executorch().buffer)
    _compare(case, model, pteron.load(file, cache=None).forward)


class AllPositive(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        positive = x > 0
        return torch.cond(positive.all(), lambda x: x * 2, lambda x: x - 1, (x,)), positive


def test_a_tensor_of_several_conditions_holds_if_all_do() -> None:
    file = lower(AllPositive(), (torch.ones(2, 3),), backend=None)
    plan = file.program.execution_plan[0]
    steps = [step.instr_args for step in plan.chains[0].instructions]
    compared = next(s for s in steps if "gt" in plan.operators[s.op_index].name).args[-1]
    next(s for s in steps if hasattr(s, "cond_value_index")).cond_value_index = compared
    theirs, ours = ExecuTorchProgram(file), pteron.load(file, cache=None)
    some = torch.ones(2, 3)
    some[1, 1] = -1
    for x in (torch.ones(2, 3), some, -some):
        want, _ = AllPositive()(x)
        torch.testing.assert_close(theirs.run(x)[0], want)
        torch.testing.assert_close(torch.as_tensor(ours.forward(x.numpy())[0]), want)
