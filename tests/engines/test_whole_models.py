"""Small models of every common sort, made from torch modules, against eager.

The budget is what fp16 allows: every layer rounds once, errors add up over depth, so an output may
be off by ``depth`` half units in the last place of its largest value; fp32 likewise.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import coremltools as ct
import numpy as np
import pytest
import torch
from coremltools.optimize import coreml as cto
from torch import nn

from pteron.payloads.coreml.reader import READER
from tests.engines.converted import convert, run, source_of
from tests.engines.whole_models import MODELS, Model


def budget(expected: np.ndarray, precision: str, depth: int) -> float:
    unit = np.finfo(np.float16 if precision == "fp16" else np.float32).eps
    return float(depth * unit * max(1.0, np.abs(expected).max()))


@pytest.mark.slow
@pytest.mark.parametrize("precision", ["fp16", "fp32"])
@pytest.mark.parametrize("make", MODELS, ids=[make.__name__ for make in MODELS])
def test_agrees_with_eager(make: Callable[[], Model], precision: str) -> None:
    torch.manual_seed(0)
    model = make()
    module = model.module.eval()
    with torch.no_grad():
        answer = module(*model.inputs)
    expected = answer if isinstance(answer, tuple) else (answer,)
    inputs = [tensor.numpy() for tensor in model.inputs]
    actual = run(convert(module, model.inputs, precision), *inputs)
    assert len(actual) == len(expected)
    for ours, theirs in zip(actual, expected, strict=True):
        allowed = budget(theirs.numpy(), precision, model.depth)
        np.testing.assert_allclose(ours, theirs.numpy(), atol=allowed, rtol=0)


def quantised(model: Any, dtype: str, **options: Any) -> Any:
    config = cto.OpLinearQuantizerConfig(dtype=dtype, weight_threshold=0, **options)
    return cto.linear_quantize_weights(model, cto.OptimizationConfig(global_config=config))


def palettised(model: Any, joint: bool = False, **options: Any) -> Any:
    config = cto.OpPalettizerConfig(mode="uniform", weight_threshold=0, **options)
    whole = cto.OptimizationConfig(global_config=config)
    return cto.palettize_weights(model, whole, joint_compression=joint)


def pruned(model: Any) -> Any:
    config = cto.OpMagnitudePrunerConfig(target_sparsity=0.6, weight_threshold=0)
    return cto.prune_weights(model, cto.OptimizationConfig(global_config=config))


def sparse_and_quantised(model: Any) -> Any:
    config = cto.OpLinearQuantizerConfig(dtype="int8", weight_threshold=0, mode="linear_symmetric")
    whole = cto.OptimizationConfig(global_config=config)
    return cto.linear_quantize_weights(pruned(model), whole, joint_compression=True)


COMPRESSIONS: dict[str, Callable[[Any], Any]] = {
    "int8": lambda model: quantised(model, "int8"),
    "int4": lambda model: quantised(model, "int4"),
    "int4 in blocks": lambda model: quantised(
        model, "int4", granularity="per_block", block_size=16
    ),
    "palette": lambda model: palettised(model, nbits=4),
    "palettes of groups": lambda model: palettised(
        model, nbits=3, granularity="per_grouped_channel", group_size=16
    ),
    "sparse": pruned,
    "sparse and palette": lambda model: palettised(pruned(model), nbits=4, joint=True),
    "sparse and int8": sparse_and_quantised,
}


class Compressible(nn.Module):
    """A transposed, a grouped and a plain convolution, then two layers of a perceptron."""

    def __init__(self) -> None:
        super().__init__()
        self.convolutions = nn.Sequential(
            nn.Conv2d(16, 32, 3, padding=1),
            nn.SiLU(),
            nn.Conv2d(32, 32, 3, padding=1, groups=2),
            nn.ReLU(),
            nn.ConvTranspose2d(32, 16, 2, 2),
        )
        self.layers = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64), nn.Tanh())

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(self.convolutions(x).mean(1).flatten(1))


@pytest.mark.slow
@pytest.mark.parametrize("kind", COMPRESSIONS)
def test_compressed_weights_agree_with_coremltools_own_expansion(kind: str) -> None:
    """The compressed model against the same model decompressed again by coremltools."""
    torch.manual_seed(0)
    x = torch.randn(3, 16, 4, 4)
    program = torch.export.export(Compressible().eval(), (x,)).run_decompositions()
    target = ct.target.iOS18
    model = ct.convert(program, skip_model_load=True, minimum_deployment_target=target)
    source = source_of(COMPRESSIONS[kind](model))
    operations = READER.summary(source).functions[0].operations
    compressed = sum(count for name, count in operations.items() if name.startswith("constexpr"))
    assert compressed >= 3  # of five weights
    (actual,) = run(source, x.numpy())
    expanded = source_of(cto.decompress_weights(COMPRESSIONS[kind](model)))
    (expected,) = run(expanded, x.numpy(), precision="f32")
    np.testing.assert_allclose(actual, expected, atol=4 * 2.0**-10, rtol=0)
