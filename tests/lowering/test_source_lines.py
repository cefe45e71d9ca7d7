"""Lines of the model are named in whichever of its methods they stand."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from pteron.lowering import lower

X = (torch.ones(1, 4),)


class Stepping(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(1, 4))

    def forward(self, x: Tensor) -> Tensor:
        return self._added(x) * 2

    def _added(self, x: Tensor) -> Tensor:
        return self.total.add_(x)

    def step(self, x: Tensor) -> Tensor:
        self.total.mul_(x)
        return x + 1


@pytest.mark.parametrize(
    ("method", "place"),
    [("forward", "in _added: return self.total.add_(x)"), ("step", "in step: self.total.mul_(x)")],
)
def test_a_write_names_its_own_line(method, place):
    file = lower({method: (getattr(Stepping(), method), X)}, backend=None)
    (write,) = file.lowering_report.state.buffers["total"].writes
    assert write.line.startswith(f"{__file__}:")
    assert write.line.endswith(place)


def test_torchs_own_lines_are_noted_as_before():
    from torch.fx import proxy

    before = set(proxy._STACK_TRACE_ANCHORS)
    lower(Stepping(), X, backend=None)
    assert before == proxy._STACK_TRACE_ANCHORS
