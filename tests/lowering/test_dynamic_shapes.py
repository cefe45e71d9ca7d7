"""Sizes that are known only when a method runs, within bounds."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn
from torch.export import Dim

import pteron
from pteron.errors import LoweringError
from pteron.lowering import CoreML, lower
from pteron.schema.program import TensorShapeDynamism

from .reference import ExecuTorchProgram

ROWS = ({0: Dim("n", min=1, max=16)},)


class SumOfRows(nn.Module):
    """State, a dynamic output, and a size as an output."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = nn.Linear(4, 5)
        self.register_buffer("total", torch.zeros(1, 5))

    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        y = self.linear(x).relu()
        self.total.add_(y.sum(0, keepdim=True))
        return torch.cat([y, y * 2], 0) + self.total, y.shape[0] * 1


class Reshaped(nn.Module):
    """Sizes computed from sizes, and a tensor made of them."""

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        halves = x.reshape(x.shape[0] * 2, -1).softmax(-1)
        return halves, x.new_zeros(x.shape[0] + 1, 2) + x.sum()


@pytest.mark.parametrize("model", [SumOfRows, Reshaped])
def test_executorch_runs_every_size(model):
    torch.manual_seed(0)
    eager = model()
    file = lower(copy.deepcopy(eager), (torch.randn(3, 4),), dynamic_shapes=ROWS, backend=None)
    program = ExecuTorchProgram(file)
    for rows in (3, 1, 16, 7):
        x = torch.randn(rows, 4)
        with torch.no_grad():
            wanted = eager(x)
        for got, want in zip(program.run(x), wanted, strict=True):
            torch.testing.assert_close(torch.as_tensor(got), torch.as_tensor(want))


@pytest.mark.parametrize("model", [SumOfRows, Reshaped])
def test_a_delegate_runs_every_size(model):
    torch.manual_seed(0)
    eager = model()
    backend = CoreML(compute_precision="float32")
    x = torch.randn(3, 4)
    file = lower(copy.deepcopy(eager), (x,), dynamic_shapes=ROWS, backend=backend)
    assert len(file.program.execution_plan[0].delegates) >= 1
    module = pteron.load(file, cache=None)
    for rows in (3, 1, 16, 7):
        x = torch.randn(rows, 4)
        with torch.no_grad():
            wanted = eager(x)
        for got, want in zip(module.forward(x.numpy()), wanted, strict=True):
            got, want = torch.as_tensor(got), torch.as_tensor(want)
            torch.testing.assert_close(got, want, rtol=4e-3, atol=4e-3)


def test_a_dynamic_tensor_is_recorded_at_its_bound():
    file = lower(SumOfRows(), (torch.randn(3, 4),), dynamic_shapes=ROWS, backend=None)
    (plan,) = file.program.execution_plan
    tensor = plan.values[plan.inputs[0]].val
    assert tensor.sizes == [16, 4]
    assert tensor.shape_dynamism == TensorShapeDynamism.DYNAMIC_BOUND


def test_a_size_without_a_bound_is_an_error():
    shapes = ({0: Dim.DYNAMIC},)
    with pytest.raises(LoweringError, match="no upper bound"):
        lower(SumOfRows(), (torch.randn(3, 4),), dynamic_shapes=shapes, backend=None)
