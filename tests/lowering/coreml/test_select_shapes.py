"""``torch.where`` and ``masked_fill`` whose condition is larger than their values."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import pteron
from pteron.lowering import CoreML, lower


class Masks(nn.Module):
    """Of what the condition alone says how many rows it has."""

    def forward(self, x: Tensor) -> tuple[Tensor, ...]:
        seen, row = x > 0, x[:1]
        return (
            torch.where(seen, 0.0, -1e4),
            torch.where(seen, torch.zeros(()), torch.full((), float("-inf"))),
            torch.where(seen, row, -1e4),
            torch.where(seen, row > 1, row > -1).float(),
            torch.zeros(()).masked_fill(seen, -1e4),
            torch.where(seen, x, -1e4),
        )


@pytest.mark.parametrize("precision", ["float32", "float16"])
@pytest.mark.parametrize("rows", [(3,), (1, 3, 8)], ids=["static", "flexible"])
def test_they_have_the_condition_s_shape(precision: str, rows: tuple[int, ...]) -> None:
    sizes = ({0: torch.export.Dim("rows", min=1, max=8)},) if len(rows) > 1 else None
    backend = CoreML(compute_precision=precision)
    file = lower(Masks(), (torch.ones(3, 4),), dynamic_shapes=sizes, backend=backend)
    assert len(file.delegates) == 1
    module = pteron.load(file, cache=None)
    for n in rows:
        x = torch.linspace(-2, 2, n * 4).view(n, 4).half().float()
        for got, wanted in zip(module.forward(x), Masks()(x), strict=True):
            np.testing.assert_array_equal(got, wanted.numpy())
