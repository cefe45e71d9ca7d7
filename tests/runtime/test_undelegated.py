"""Programs that ExecuTorch lowered run here as in ExecuTorch's own runtime, and as in PyTorch."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
import torch
from executorch.runtime import Runtime

import pteron
from pteron.errors import EngineError, UnsupportedError
from tests.runtime.executorch_programs import CASES, lower

STEPS = 3


@pytest.mark.parametrize("name", CASES)
def test_same_numbers_step_by_step(name: str) -> None:
    case = CASES[name]
    torch.manual_seed(0)
    model = case.model().eval()
    program = lower(case, model)
    theirs = Runtime.get().load_program(program).load_method("forward")
    ours = pteron.load(pteron.open(program), cache=None)
    for step in range(STEPS):
        inputs = case.inputs(step)
        with torch.no_grad():
            eager = model(*inputs)
        expected = theirs.execute(inputs)
        outputs = ours.forward(*inputs)
        assert len(outputs) == len(expected)
        eager_list = eager if isinstance(eager, tuple) else (eager,)
        for output, other, reference in zip(outputs, expected, eager_list, strict=True):
            got = output.astype(np.float64)
            np.testing.assert_allclose(got, other.double().numpy(), rtol=1e-5, atol=1e-6)
            np.testing.assert_allclose(got, reference.double().numpy(), rtol=1e-2, atol=1e-5)
            assert output.shape == tuple(reference.shape)


def test_program_owned_state_is_in_the_users_hands() -> None:
    case = CASES["accumulator"]
    module = pteron.load(pteron.open(lower(case, case.model())), cache=None)
    assert {name: entry.owner for name, entry in module.state.items()} == {
        "total": "program",
        "steps": "program",
    }
    module.forward(np.ones((1, 4), np.float32))
    snapshot = module.state.snapshot()
    module.forward(np.ones((1, 4), np.float32))
    assert module.state["steps"].read().tolist() == [2]
    module.state.restore(snapshot)
    doubled, steps = module.forward(np.ones((1, 4), np.float32))
    assert doubled.tolist() == [[4, 4, 4, 4]]
    assert steps.tolist() == [2]
    module.state.reset()
    assert module.state["total"].read().tolist() == [[0, 0, 0, 0]]


def test_forks_do_not_see_each_other() -> None:
    case = CASES["accumulator"]
    one = pteron.load(pteron.open(lower(case, case.model())), cache=None)
    one.forward(np.ones((1, 4), np.float32))
    two = one.fork()
    two.forward(np.ones((1, 4), np.float32))
    assert one.state["steps"].read().tolist() == [1]
    assert two.state["steps"].read().tolist() == [2]


def test_outputs_belong_to_the_caller() -> None:
    case = CASES["add"]
    module = pteron.load(pteron.open(lower(case, case.model())), cache=None)
    (first,) = module.forward(*case.inputs(1))
    kept = first.copy()
    module.forward(*case.inputs(2))
    assert np.array_equal(first, kept)


def test_a_program_that_writes_to_a_constant_is_stopped() -> None:
    """A hostile file may name a constant as an out; it lies in memory mapped for reading."""
    case = CASES["mlp"]
    file = pteron.open(lower(case, case.model()))
    plan = file.program.execution_plan[0]
    constant = next(
        index
        for index, value in enumerate(plan.values)
        if getattr(value.val, "data_buffer_idx", 0) and value.val.allocation_info is None
    )
    for instruction in plan.chains[0].instructions:
        instruction.instr_args.args[-2:] = [constant, constant]
    with pytest.raises(EngineError, match="writes to a constant"):
        pteron.load(file, cache=None).forward(*case.inputs(0))


@pytest.mark.parametrize("name", ["mlp", "accumulator", "dynamic"])
def test_the_executorch_engine_has_the_same_face(name: str) -> None:
    case = CASES[name]
    torch.manual_seed(0)
    program = lower(case, case.model().eval())
    theirs = pteron.load(pteron.open(program), engine="executorch")
    ours = pteron.load(pteron.open(program), cache=None)
    for step in range(STEPS):
        inputs = case.inputs(step)
        for a, b in zip(theirs.forward(*inputs), ours.forward(*inputs), strict=True):
            np.testing.assert_allclose(a.astype("d"), b.astype("d"), rtol=1e-5, atol=1e-6)
    assert list(theirs.state) == list(ours.state)
    for state in ours.state:
        assert np.array_equal(theirs.state[state].read(), ours.state[state].read())


def test_state_on_the_executorch_engine_can_be_written_and_forked() -> None:
    case = CASES["accumulator"]
    one = pteron.load(pteron.open(lower(case, case.model())), engine="executorch")
    one.state["total"].write(np.full((1, 4), 5, np.float32))
    two = one.fork()
    doubled, _ = two.forward(np.ones((1, 4), np.float32))
    assert doubled.tolist() == [[12, 12, 12, 12]]
    assert one.state["total"].read().tolist() == [[5, 5, 5, 5]]


def test_the_executorch_engine_says_what_its_build_lacks(counter_program: Path) -> None:
    with pytest.raises(UnsupportedError, match="lacks CoreMLBackend"):
        pteron.load(counter_program, engine="executorch")
