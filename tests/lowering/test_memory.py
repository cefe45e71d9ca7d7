"""Memory planning: nothing overlaps that lives at one time, and little is wasted."""

from __future__ import annotations

import copy
from itertools import combinations
from typing import Any

import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from pteron.lowering import lower, memory

from . import zoo

lifetimes = st.builds(
    lambda size, first, length: memory.Lifetime(size, first, first + length),
    st.integers(0, 5000),
    st.integers(0, 20),
    st.integers(0, 8),
)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(lifetimes, max_size=25))
def test_values_that_live_together_lie_apart(values):
    arena = memory.plan(dict(enumerate(values)))
    for (i, one), (j, other) in combinations(enumerate(values), 2):
        a, b = arena.offsets[i], arena.offsets[j]
        if one.overlaps(other):
            assert a + one.size <= b or b + other.size <= a
    for i, value in enumerate(values):
        assert arena.offsets[i] % memory.ALIGNMENT == 0
        assert arena.offsets[i] + value.size <= arena.size


def test_memory_is_used_again_when_its_value_is_dead():
    chain = {i: memory.Lifetime(64, i, i + 1) for i in range(10)}
    assert memory.plan(chain).size == 128


class Convolutions(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList(
            nn.Conv2d(a, b, 3, stride=s, padding=1)
            for a, b, s in [(3, 16, 1), (16, 32, 2), (32, 32, 1), (32, 64, 2)]
        )

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = torch.relu(layer(x)) + 0.1 * layer(x)
        return x.mean((2, 3))


class Attention(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True)
        self.mlp = nn.Sequential(nn.Linear(32, 128), nn.GELU(), nn.Linear(128, 32))

    def forward(self, x: Tensor) -> Tensor:
        y, _ = self.attention(x, x, x, need_weights=False)
        return x + self.mlp(x + y)


def planned_by_executorch(model: nn.Module, inputs: tuple[Any, ...]) -> int:
    """Bytes of all arenas; skips what ExecuTorch cannot lower."""
    from executorch.exir import EdgeCompileConfig, to_edge

    config = EdgeCompileConfig(_check_ir_validity=False)
    try:
        with torch.no_grad():
            edge = to_edge(torch.export.export(model, inputs), compile_config=config)
        program = edge.to_executorch().executorch_program
    except Exception as error:  # whatever another project raises
        pytest.skip(f"ExecuTorch cannot lower it: {error}")
    return sum(program.execution_plan[0].non_const_buffer_sizes)


def planned_here(model: nn.Module, inputs: tuple[Any, ...]) -> int:
    return sum(lower(model, inputs, backend=None).program.execution_plan[0].non_const_buffer_sizes)


@pytest.mark.parametrize(
    ("model", "inputs"),
    [(Convolutions(), torch.randn(1, 3, 32, 32)), (Attention(), torch.randn(1, 24, 32))],
    ids=["convolutions", "attention"],
)
def test_no_more_than_executorch_plans(model, inputs):
    model = model.eval().requires_grad_(False)
    wanted = planned_by_executorch(copy.deepcopy(model), (inputs,))
    assert planned_here(model, (inputs,)) <= 1.05 * wanted


MORE = {
    "AsStridedView": 1,  # the strided write is a scatter, which keeps the flat buffer
    "Copy": 1,  # the new value of a buffer is a copy of the input
    "DiagonalView": 1,  # the diagonal's write is a scatter, which keeps the flat buffer
    "MutatedParameter": 1,  # ExecuTorch takes it for a constant, and forgets the write
    "RankSix": 1,  # a view is a copy
    "ViewOfView": 1,  # a view is a copy
    "ShiftRegister": 2,  # old values are copied before buffers are written
}
"""Models of a few operations on tensors of 24 bytes, with so many such tensors more."""


@pytest.mark.slow
@pytest.mark.parametrize("name", sorted(zoo.ZOO))
def test_no_more_than_executorch_plans_for_the_zoo(name):
    inputs = zoo.inputs_of(name)[0]
    wanted = planned_by_executorch(zoo.build(name), inputs)
    here = planned_here(zoo.build(name), inputs)
    assert here <= 1.05 * wanted + memory.align(24) * MORE.get(name, 0)
