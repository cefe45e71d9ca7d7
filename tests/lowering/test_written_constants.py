"""Tensors that a model keeps without registering them are state like buffers, if it writes them."""

from __future__ import annotations

import copy
from typing import Any

import pytest
import torch
from torch import Tensor, nn

import pteron
from pteron.lowering import lower

from .reference import ExecuTorchProgram

X = torch.ones(1, 4)


class Unregistered(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.total = torch.zeros(1, 4)
        self.history = [torch.zeros(1, 4)]
        self.scale = torch.full((1, 4), 2.0)

    def forward(self, x: Tensor) -> Tensor:
        self.total.add_(x)
        self.history[0][:, 1:].copy_(self.total[:, :3])
        return self.total * self.scale + self.history[0]


@pytest.mark.parametrize("options", [{}, {"take_over_mutable_buffers": False}, {"backend": None}])
@pytest.mark.parametrize("exported", [False, True])
def test_they_are_kept_from_call_to_call(options: dict[str, Any], exported: bool) -> None:
    model = Unregistered()
    source = torch.export.export(model, (X,)) if exported else model
    file = lower(source, () if exported else (X,), **options)
    record = file.lowering_report.state.buffers["total"]
    assert record.owner.value == ("program" if options else "delegate")
    assert "self.total.add_(x)" in str(record.writes[0])
    module = pteron.load(file, cache=None)
    eager = copy.deepcopy(model)
    for _ in range(3):
        (got,) = module.forward(X)
        torch.testing.assert_close(torch.as_tensor(got), eager(X), rtol=4e-3, atol=4e-3)
    assert set(module.state) == {"total", "lifted_tensor_0"}


def test_executorch_keeps_them_too() -> None:
    program, eager = ExecuTorchProgram(lower(Unregistered(), (X,), backend=None)), Unregistered()
    for _ in range(3):
        torch.testing.assert_close(program.run(X), [eager(X)])
