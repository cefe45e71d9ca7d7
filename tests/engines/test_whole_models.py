"""Small models of every common sort, made from torch modules, against eager.

The budget is what fp16 allows: every layer rounds once, errors add up over depth, so an output may
be off by ``depth`` half units in the last place of its largest value; fp32 likewise.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import nn

from tests.engines.converted import convert, run
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


WEIGHTS = ["int8", "int4", "palette"]


@pytest.mark.slow
@pytest.mark.parametrize("kind", WEIGHTS)
def test_compressed_weights_agree_with_coremltools_own_expansion(kind: str) -> None:
    """The compressed model against the same model decompressed again by coremltools."""
    import coremltools as ct
    from coremltools.optimize import coreml as cto

    from tests.engines.converted import source_of

    torch.manual_seed(0)
    module = nn.Sequential(nn.Linear(64, 128), nn.GELU(), nn.Linear(128, 64), nn.Tanh()).eval()
    x = torch.randn(3, 64)
    program = torch.export.export(module, (x,)).run_decompositions()
    target = ct.target.iOS18
    model = ct.convert(program, skip_model_load=True, minimum_deployment_target=target)
    if kind == "palette":
        config = cto.OpPalettizerConfig(mode="uniform", nbits=4, weight_threshold=0)
        compressed = cto.palettize_weights(model, cto.OptimizationConfig(global_config=config))
    else:
        config = cto.OpLinearQuantizerConfig(dtype=kind, weight_threshold=0)
        whole = cto.OptimizationConfig(global_config=config)
        compressed = cto.linear_quantize_weights(model, whole)
    (actual,) = run(source_of(compressed), x.numpy())
    (expected,) = run(source_of(cto.decompress_weights(compressed)), x.numpy(), precision="f32")
    np.testing.assert_allclose(actual, expected, atol=4 * 2.0**-10, rtol=0)
