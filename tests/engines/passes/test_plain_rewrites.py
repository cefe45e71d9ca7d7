"""Rewrites of stateless parts: each is applied where it should be, and changes no result."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch import nn

from pteron.engines.openvino.build import build
from pteron.engines.openvino.passes import Target, rewrite
from pteron.payloads.coreml.package import CoreMLPackage
from tests.engines.converted import convert, mil_program
from tests.engines.passes.rewritten import compare, types

WIDTH = 64


def x(*shape: int, scale: float = 1.0) -> np.ndarray:
    return (scale * np.random.default_rng(0).standard_normal(shape)).astype(np.float32)


class MLP(nn.Module):
    def __init__(self, bias: bool = False) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.gate, self.up = (nn.Linear(WIDTH, 128, bias=bias) for _ in range(2))
        self.down = nn.Linear(128, WIDTH, bias=bias)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.down(self.up(x) * nn.functional.silu(self.gate(x)))


def test_zero_bias() -> None:
    source, inputs = convert(MLP(), (torch.zeros(1, 1, WIDTH),)), [x(1, 1, WIDTH)]
    counts, before, after = compare(source, inputs, "zero_bias")
    assert counts == {"zero_bias": 3}
    assert "Add" not in types(source, "zero_bias")
    np.testing.assert_array_equal(before[0], after[0])


def test_a_bias_that_is_not_zero_stays() -> None:
    source, inputs = convert(MLP(bias=True), (torch.zeros(1, 1, WIDTH),)), [x(1, 1, WIDTH)]
    counts, before, after = compare(source, inputs, "zero_bias")
    assert counts == {"zero_bias": 0}
    np.testing.assert_array_equal(before[0], after[0])


def test_gated_mlp() -> None:
    counts, before, after = compare(gated_mlp(), [x(1, 1, WIDTH)], "zero_bias", "gated_mlp")
    assert counts == {"zero_bias": 0, "gated_mlp": 1}
    np.testing.assert_allclose(before[0], after[0], rtol=1e-5, atol=1e-6)


def gated_mlp():
    from coremltools.converters.mil import Builder as mb  # noqa: N813

    def program(x):
        gate, up = (mb.matmul(x=x, y=weight) for weight in (weights(0), weights(1)))
        return mb.matmul(x=mb.mul(x=mb.silu(x=gate), y=up), y=weights(2).T)

    def weights(seed):
        return np.random.default_rng(seed).standard_normal((WIDTH, 128)).astype(np.float32) / 8

    return mil_program(program, {"x": ("float32", (1, 1, WIDTH))})


def test_wide_types_compute_what_was_computed_in_fp32_anyway() -> None:
    source, inputs = convert(MLP(True), (torch.zeros(1, 1, WIDTH),)), [x(1, 1, WIDTH)]
    counts, before, after = compare(source, inputs, "wide_types")
    assert counts["wide_types"] > 0
    np.testing.assert_allclose(before[0], after[0], rtol=1e-3, atol=1e-4)
    assert before[0].dtype == after[0].dtype


def test_fp16_stays_fp16_where_it_is_computed_in() -> None:
    source = convert(MLP(), (torch.zeros(1, 1, WIDTH),))
    model = build(CoreMLPackage(source), "main").model
    assert "wide_types" not in rewrite(model, Target("f16", exact=False))


@pytest.mark.parametrize("scale", [1e-6, 1.0, 300.0])
def test_rms_norm(scale: float) -> None:
    """The norm as pteron's lowering writes it, from tiny to large inputs."""
    counts, before, after = compare(rms_norm(1e-5), [x(2, 3, WIDTH, scale=scale)], "rms_norm")
    assert counts == {"rms_norm": 1}
    np.testing.assert_allclose(before[0], after[0], rtol=1e-5, atol=1e-6)
    exact = x(2, 3, WIDTH, scale=scale).astype(np.float64)
    exact /= np.sqrt((exact**2).mean(-1, keepdims=True) + 1e-5)
    np.testing.assert_allclose(after[0], exact, rtol=1e-4, atol=1e-6)


def test_a_norm_whose_epsilon_is_not_scaled_is_another_function() -> None:
    counts, before, after = compare(rms_norm(1e-5, scaled=False), [x(2, 3, WIDTH)], "rms_norm")
    assert counts == {"rms_norm": 0}
    np.testing.assert_array_equal(before[0], after[0])


def test_the_reference_mode_keeps_norms() -> None:
    model = build(CoreMLPackage(rms_norm(1e-5)), "main").model
    assert "rms_norm" not in rewrite(model, Target("f32", exact=True))


def rms_norm(epsilon: float, scaled: bool = True):
    """``y / sqrt(mean(y ** 2) + epsilon / m ** 2)``, ``y = x / m``; or with plain epsilon."""
    from coremltools.converters.mil import Builder as mb  # noqa: N813

    def program(x):
        root = np.float32(np.sqrt(epsilon))
        largest = mb.reduce_max(x=mb.abs(x=x), axes=[-1], keep_dims=True)
        scale = mb.maximum(x=largest, y=root)
        small = mb.real_div(x=x, y=scale)
        mean = mb.reduce_mean(x=mb.square(x=small), axes=[-1], keep_dims=True)
        floor = mb.square(x=mb.real_div(x=root, y=scale)) if scaled else np.float32(epsilon)
        return mb.real_div(x=small, y=mb.sqrt(x=mb.add(x=mean, y=floor)))

    return mil_program(program, {"x": ("float32", (2, 3, WIDTH))})
