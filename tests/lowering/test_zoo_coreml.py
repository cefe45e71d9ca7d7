"""Every way of writing a buffer, lowered for Core ML and run on the OpenVINO engine."""

from __future__ import annotations

import copy

import pytest
import torch
from torch.utils import _pytree

import pteron
from pteron.lowering import CoreML, lower

from . import zoo
from .outer import check_outer_program
from .packages import states_of

PROGRAM_OWNED = {
    "BoolMask": "cannot hold bool",
    "CondWrite": "outside any delegate",
    "CustomMutatingOp": "outside any delegate",
    "Int32Counter": "cannot hold int32",
    "Int64Counter": "cannot hold int64",
    "MutatedParameter": "first value is not zero",
    "NonZeroFirstValue": "first value is not zero",
    "RankSix": "rank 6",
    "ScalarBuffer": "rank 0",
    "WriteInsideCond": "outside any delegate",
    "WriteInsideWhileLoop": "outside any delegate",
}
"""Cases with no state in the delegate, and a part of the reason that the report gives."""

QUICK_WITHOUT_STATE = {"AttentionKVCache", "ShiftRegister", "TiedBuffers"}


def marks(name: str, quick: set[str]) -> list[pytest.MarkDecorator]:
    return [] if name in quick else [pytest.mark.slow]


CASES = [
    pytest.param(name, take_over, marks=marks(name, quick), id=f"{name}-{o}")
    for name in sorted(zoo.ZOO)
    for take_over, o, quick in [
        (True, "delegate", zoo.QUICK),
        (False, "program", QUICK_WITHOUT_STATE),
    ]
]


@pytest.mark.parametrize(("name", "take_over"), CASES)
def test_same_numbers_as_eager_after_every_step(name: str, take_over: bool) -> None:
    model, steps = zoo.build(name), zoo.inputs_of(name)
    file = lower(
        copy.deepcopy(model),
        steps[0],
        backend=CoreML(compute_precision="float32"),
        take_over_mutable_buffers=take_over,
    )
    check_outer_program(file)
    if not take_over:
        assert not any(map(states_of, file.delegates))
    module = pteron.load(file, cache=None)
    for inputs in steps:
        with torch.no_grad():
            wanted = _pytree.tree_leaves(model(*inputs))
        outputs = _pytree.tree_leaves(module.forward(*(x.numpy() for x in inputs)))
        for got, want in zip(outputs, wanted, strict=True):
            got, want = torch.as_tensor(got), torch.as_tensor(want)
            # State is fp16: half a unit in the last place at each step, on values of a few units.
            torch.testing.assert_close(got, want, rtol=4e-3, atol=4e-3)


@pytest.mark.parametrize("name", sorted(PROGRAM_OWNED.keys() & zoo.QUICK | {"BoolMask", "RankSix"}))
def test_what_a_delegate_cannot_own_is_the_programs(name: str) -> None:
    report = lower(zoo.build(name), zoo.inputs_of(name)[0]).lowering_report
    reason = PROGRAM_OWNED[name]
    (record,) = (r for r in report.state.buffers.values() if r.writes)
    assert record.owner.value == "program"
    assert reason in record.reason
