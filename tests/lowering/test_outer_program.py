"""The program around the delegates as torch sees it."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

from pteron.errors import UsageError
from pteron.lowering import lower
from pteron.lowering.outer_program import call_delegate

from .outer import check_outer_program

X = (torch.randn(2, 3),)


class Mixed(nn.Module):
    """A buffer of a delegate, one of the program, one that is never written."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(2, 3))
        self.register_buffer("steps", torch.zeros(1, dtype=torch.int64), persistent=False)
        self.register_buffer("scale", torch.tensor([1.0, -2.0, 0.5]))
        self.linear = nn.Linear(3, 3)

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.total += x
        self.steps += 1
        return torch.sigmoid(self.linear(x) * self.scale), self.total + self.steps


def test_program_owned_state_is_a_mutation_and_delegates_are_calls():
    file = lower(Mixed(), X, exclude=["aten.sigmoid.*"])
    check_outer_program(file)
    program = file.lowering_report.outer_program()
    signature = program.graph_signature
    assert signature.buffers_to_mutate and set(signature.buffers_to_mutate.values()) == {"steps"}
    assert "total" not in str(signature)
    (call,) = program.graph.find_nodes(op="call_function", target=call_delegate)
    delegate = getattr(program.graph_module, call.args[0].target).meta["delegate"]
    assert delegate.payload == bytes(file.delegates[0].payload)
    assert program.example_inputs is None and program.call_spec.in_spec is not None
    assert dict(program.named_buffers()).keys() == {"steps"}


def test_without_a_backend_torch_can_run_it():
    model = Mixed()
    file = lower(model, X, backend=None)
    module = file.lowering_report.outer_program().module()
    want = model(*X)
    torch.testing.assert_close(module(*X), want)


def test_bounds_of_dynamic_sizes_are_kept():
    shapes = {"x": {0: Dim("rows", min=2, max=9)}}
    file = lower(nn.Linear(3, 3), X, dynamic_shapes={"input": shapes["x"]}, backend=None)
    (bounds,) = file.lowering_report.outer_program().range_constraints.values()
    assert (bounds.lower, bounds.upper) == (2, 9)


def test_an_unknown_method_is_named():
    report = lower(nn.Linear(3, 3), X, backend=None).lowering_report
    with pytest.raises(UsageError, match=r"no method 'forwrd' \(did you mean 'forward'\?\)"):
        report.outer_program("forwrd")
