"""Writes of a flexible number of rows: what a delegate takes, and what to do about others."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

from pteron.lowering import lower

ROWS = 16
HINT = "write a slice, `cache[:, :, start : start + n] = rows`, instead"


class Rows(nn.Module):
    """Writes the rows of a call into a cache, the way ``how`` says."""

    def __init__(self, how: str) -> None:
        super().__init__()
        self.how = how
        self.register_buffer("cache", torch.zeros(1, 2, ROWS, 4))

    def forward(self, rows: Tensor, position: Tensor) -> Tensor:
        start, n = position.item(), rows.shape[2]
        torch._check(start >= 0)
        torch._check(start + n <= ROWS)
        if self.how == "slice":
            self.cache[:, :, start : start + n] = rows
        elif self.how == "narrow":
            self.cache.narrow(2, start, n).copy_(rows)
        else:
            self.cache.index_copy_(2, position + torch.arange(n), rows)
        return self.cache * 2


@pytest.mark.parametrize(
    ("how", "owner"), [("slice", "delegate"), ("narrow", "delegate"), ("index_copy_", "program")]
)
def test_only_slices_keep_a_buffer_with_the_delegate(how: str, owner: str) -> None:
    inputs = (torch.ones(1, 2, 3, 4), torch.zeros(1, dtype=torch.int32))
    sizes = ({2: torch.export.Dim("n", min=1, max=ROWS - 1)}, None)
    report = lower(Rows(how), inputs, dynamic_shapes=sizes).lowering_report
    record = report.state.buffers["cache"]
    assert record.owner.value == owner
    assert record.reason.endswith(HINT) == (owner == "program")
