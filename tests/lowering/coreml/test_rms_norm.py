"""The root-mean-square norm: PyTorch's numbers for small, large and no activations."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

import pteron
from pteron.lowering import CoreML, lower

TOLERANCE = {"float32": 1e-6, "float16": 4e-3}


@pytest.mark.parametrize("precision", TOLERANCE)
@pytest.mark.parametrize("scale", [0.0, 1e-3, 1.0, 3000.0])
def test_any_size_of_activations(precision: str, scale: float) -> None:
    torch.manual_seed(0)
    model = nn.RMSNorm(64, eps=1e-5).requires_grad_(False)
    model.weight.uniform_(0.5, 2)
    x = torch.randn(1, 3, 64) * scale
    module = pteron.load(lower(model, (x,), backend=CoreML(compute_precision=precision)))
    (got,) = module.forward(x)
    np.testing.assert_allclose(got, model(x).numpy(), rtol=0, atol=4 * TOLERANCE[precision])


@pytest.mark.parametrize("shape", [(64,), (3, 64)])
def test_without_weight_and_with_the_default_epsilon(shape: tuple[int, ...]) -> None:
    x = torch.linspace(-1e-3, 1e-3, 192).view(1, 3, 64)
    model = nn.RMSNorm(shape, elementwise_affine=False)
    module = pteron.load(lower(model, (x,), backend=CoreML(compute_precision="float32")))
    np.testing.assert_allclose(module.forward(x)[0], model(x).numpy(), rtol=0, atol=4e-6)
