"""Packages in which coremltools declares a ``select`` smaller than its condition."""

from __future__ import annotations

import coremltools as ct
import numpy as np
import pytest
import torch
from torch import Tensor, nn

from tests.engines.converted import run, source_of

PRECISIONS = {"float16": ct.precision.FLOAT16, "float32": ct.precision.FLOAT32}


class Mask(nn.Module):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        seen = x > 0
        return torch.where(seen, 0.5, -1e4) * 2, torch.where(seen, x[:1], torch.zeros(()))


@pytest.mark.parametrize("precision", PRECISIONS)
def test_it_has_the_condition_s_shape(precision: str) -> None:
    sizes = ({0: torch.export.Dim("rows", min=2, max=8)},)
    program = torch.export.export(Mask(), (torch.ones(3, 4),), dynamic_shapes=sizes)
    model = ct.convert(
        program.run_decompositions({}),
        skip_model_load=True,
        minimum_deployment_target=ct.target.iOS18,
        compute_precision=PRECISIONS[precision],
    )
    source = source_of(model)
    for n in (2, 8):
        x = torch.linspace(-2, 2, n * 4).view(n, 4).half().float()
        for got, wanted in zip(run(source, x.numpy()), Mask()(x), strict=True):
            np.testing.assert_array_equal(got, wanted.numpy())
