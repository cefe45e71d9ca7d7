"""Every way of writing a buffer, lowered to portable operators and run by ExecuTorch itself."""

from __future__ import annotations

import copy

import pytest
import torch
from torch.utils import _pytree

from pteron.lowering import lower

from . import zoo
from .outer import check_outer_program
from .reference import ExecuTorchProgram

WITHOUT_KERNEL = {"CustomMutatingOp"}
"""Cases with an operator that no runtime but PyTorch's has."""


CASES = [
    pytest.param(name, marks=() if name in zoo.QUICK else pytest.mark.slow)
    for name in sorted(zoo.ZOO.keys() - WITHOUT_KERNEL)
]


@pytest.mark.parametrize("name", CASES)
def test_same_numbers_as_eager_after_every_step(name: str) -> None:
    model, steps = zoo.build(name), zoo.inputs_of(name)
    file = lower(copy.deepcopy(model), steps[0], backend=None)
    check_outer_program(file)
    program = ExecuTorchProgram(file)
    for inputs in steps:
        with torch.no_grad():
            wanted = _pytree.tree_leaves(model(*inputs))
        for got, want in zip(program.run(*inputs), wanted, strict=True):
            torch.testing.assert_close(got, want)


@pytest.mark.parametrize("name", ["TiedBuffers", "BufferIsViewOfAnother", "ExactSwap"])
def test_the_model_is_as_before(name: str) -> None:
    model, steps = zoo.build(name), zoo.inputs_of(name)
    classes = [type(module) for module in model.modules()]
    buffers = {name: id(b) for name, b in model.named_buffers(remove_duplicate=False)}
    lower(model, steps[0], backend=None)
    assert [type(module) for module in model.modules()] == classes
    assert {n: id(b) for n, b in model.named_buffers(remove_duplicate=False)} == buffers
    assert "forward" not in vars(model)


def test_a_model_that_runs_before_the_file_is_saved_changes_no_first_value() -> None:
    model, (inputs, *_) = zoo.build("NonZeroFirstValue"), zoo.inputs_of("NonZeroFirstValue")
    file = lower(model, inputs, backend=None)
    before = file.to_bytes()
    model(*inputs)
    assert file.to_bytes() == before
