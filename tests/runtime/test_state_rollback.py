"""Rolling a cache back to a prefix, whoever owns it."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import pteron
from pteron.errors import StateError
from pteron.runtime import Module


class Cache(nn.Module):
    """Writes ``x[1, 2]`` to the row that ``steps`` counts, and gives the sum of all rows."""

    def __init__(self, first: float) -> None:
        super().__init__()
        self.register_buffer("rows", torch.full((1, 6, 2), first))
        self.register_buffer("columns", torch.full((2, 6), first))
        self.register_buffer("steps", torch.zeros(1, dtype=torch.int64))

    def forward(self, x: Tensor) -> Tensor:
        self.rows.index_copy_(1, self.steps, x.unsqueeze(1))
        self.columns.index_copy_(1, self.steps, x.reshape(2, 1))
        self.steps.add_(1)
        return self.rows.sum(1) + self.columns.sum(1)


CASES: dict[str, dict[str, Any]] = {
    "delegate": {"first": 0.0, "backend": pteron.CoreML(compute_precision="float32")},
    "program": {"first": 0.5, "backend": None},
}


@pytest.fixture(scope="module", params=CASES)
def program(request: pytest.FixtureRequest) -> tuple[pteron.PTEFile, str]:
    case = CASES[request.param]
    return pteron.lower(
        Cache(case["first"]), (torch.ones(1, 2),), backend=case["backend"]
    ), request.param


@pytest.fixture
def module(program: tuple[pteron.PTEFile, str]) -> Module:
    file, owner = program
    module = pteron.load(file, cache=None)
    assert module.state["rows"].owner == module.state["columns"].owner == owner
    return module


def run(module: Module, *values: float) -> list[list[float]]:
    return [module.forward(np.full((1, 2), value, np.float32))[0].tolist() for value in values]


def roll(module: Module, length: int, **options: Any) -> None:
    module.state.rollback(length, "columns", axis=1)
    module.state.rollback(length, "ro*", axis=-2, positions="steps", **options)


def test_it_goes_on_as_if_only_the_prefix_had_been(module: Module) -> None:
    run(module, 1, 2)
    expected = module.fork()
    run(module, 3, 4, 5)
    roll(module, 2)
    for name, entry in expected.state.items():
        np.testing.assert_array_equal(module.state[name].read(), entry.read())
    assert run(module, 7, 8) == run(expected, 7, 8)


def test_to_nothing_is_a_reset_and_to_everything_changes_nothing(module: Module) -> None:
    first = module.state.snapshot()
    run(module, 1, 2, 3, 4, 5, 6)
    full = module.state.snapshot()
    roll(module, 6)
    for name, value in full.values.items():
        np.testing.assert_array_equal(module.state[name].read(), value)
    roll(module, 0)
    for name, value in first.values.items():
        np.testing.assert_array_equal(module.state[name].read(), value)


@pytest.mark.parametrize(
    ("arguments", "options", "message"),
    [
        ((7, "rows"), {"axis": 1}, "has 6 rows along axis 1: cannot keep 7"),
        ((-1, "rows"), {"axis": 1}, "cannot keep -1"),
        ((2, "rows"), {"axis": 3}, "has 3 axes, there is no axis 3"),
        ((2, "rows"), {"axis": -4}, "there is no axis -4"),
        ((2.0, "rows"), {"axis": 1}, "a length is a whole number, not 2.0"),
        ((True, "rows"), {"axis": 1}, "a length is a whole number, not True"),
        ((2, "rows"), {"axis": "1"}, "an axis is a whole number, not '1'"),
        ((2, "row"), {"axis": 1}, "no state is called 'row'; this module's states: "),
        ((2, ["rows", "*.k"]), {"axis": 1}, r"no state is called '\*.k'"),
        ((2, "rows"), {"axis": 1, "positions": "step"}, "no state is called 'step'"),
        ((2, "*"), {"axis": 0, "positions": "steps"}, "steps: a cache or a position, not both"),
        ((3, ["rows", "columns"]), {"axis": 0}, "cannot keep 3"),
        ((6, ["rows", "columns"]), {"axis": 1, "positions": "nothing*"}, "no state is called"),
    ],
)
def test_what_makes_no_sense_changes_nothing(
    module: Module, arguments: tuple[Any, ...], options: dict[str, Any], message: str
) -> None:
    run(module, 1, 2, 3)
    before = module.state.snapshot()
    with pytest.raises(StateError, match=message):
        module.state.rollback(*arguments, **options)
    for name, value in before.values.items():
        np.testing.assert_array_equal(module.state[name].read(), value)


def test_a_number_of_numpy_is_a_length_too(module: Module) -> None:
    run(module, 1, 2)
    module.state["rows"].rollback(np.int64(1), axis=1)
    kept = module.state["rows"].read()[0, :, 0]
    assert (kept[0], kept[1]) == (1, kept[5])
