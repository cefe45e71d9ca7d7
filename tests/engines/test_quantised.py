"""Quantised weights that OpenVINO keeps as they are, against NumPy on the same numbers."""

from __future__ import annotations

import numpy as np
import pytest

from pteron.engines.base import EngineOptions
from pteron.payloads.coreml.package import BACKEND_ID
from pteron.payloads.coreml.proto.model_pb2 import Model
from pteron.payloads.coreml.text import parse_program
from pteron.payloads.sources import FilesSource
from tests.engines.oneop import _MANIFEST, ENGINE

PROGRAM = """
program(1.3)
{{
    func main<ios18>(tensor<{float}, [2, 64]> x) {{
        tensor<{float}, [32, 64]> w = constexpr_blockwise_shift_scale(data = {data}{offset},
            scale = {scale});
        tensor<{float}, [2, 32]> y = linear(x = x, weight = w);
    }} -> (y);
}}
"""
RNG = np.random.default_rng(4)
LIMITS = {"int8": (-128, 128), "uint8": (0, 256), "int4": (-8, 8), "uint4": (0, 16)}


def text(array: np.ndarray, dtype: str) -> str:
    return f"tensor<{dtype}, {list(array.shape)}>({array.tolist()})"


def compiled(program: str):
    model = Model(specificationVersion=9)
    model.mlProgram.CopyFrom(parse_program(program.encode(), "test"))
    files = {
        "model.mlpackage/Manifest.json": memoryview(_MANIFEST),
        "model.mlpackage/Data/model.mlmodel": memoryview(model.SerializeToString()),
    }
    return ENGINE.compile_in_memory(FilesSource(BACKEND_ID, files), EngineOptions())


@pytest.mark.parametrize("dtype", LIMITS)
@pytest.mark.parametrize("blocks", [(32, 1), (1, 1), (32, 4), (8, 2)])
@pytest.mark.parametrize("with_offset", [False, True])
@pytest.mark.parametrize("float", ["fp16", "fp32"])
def test_linear_with_quantised_weights(dtype, blocks, with_offset, float) -> None:
    kind = np.float16 if float == "fp16" else np.float32
    data = RNG.integers(*LIMITS[dtype], (32, 64))
    scale = RNG.uniform(0.005, 0.02, blocks).astype(kind)
    offset = RNG.integers(*LIMITS[dtype], blocks) if with_offset else np.zeros(blocks, int)
    program = PROGRAM.format(
        float=float,
        data=text(data, dtype),
        scale=text(scale, float),
        offset=f", offset = {text(offset, dtype)}" if with_offset else "",
    )
    x = RNG.normal(size=(2, 64)).astype(kind)
    (actual,) = compiled(program).new_session().run("main", [x])
    repeats = np.ones((32 // blocks[0], 64 // blocks[1]), int)
    weight = (data - np.kron(offset, repeats)) * np.kron(scale.astype(np.float64), repeats)
    expected = x.astype(np.float64) @ weight.T
    bound = np.abs(x.astype(np.float64)) @ np.abs(weight.T)  # of the terms that are summed
    unit = np.finfo(kind).eps
    assert (np.abs(actual - expected) <= 2 * unit * bound + unit * np.abs(expected)).all()


def test_weights_stay_as_small_as_they_are_stored(tmp_path) -> None:
    """What is compiled of 4-bit weights is far smaller than the weights written out in fp16."""
    size = 512
    data = RNG.integers(-8, 8, (size, size))
    scale = np.full((size, 1), 0.01, np.float16)
    program = PROGRAM.format(
        float="fp16", data=text(data, "int4"), scale=text(scale, "fp16"), offset=""
    )
    program = program.replace("[2, 64]", f"[2, {size}]").replace("[32, 64]", f"[{size}, {size}]")
    program = program.replace("[2, 32]", f"[2, {size}]")
    model = compiled(program)._compiled["main"].model
    assert len(model.export_model().getbuffer()) < size * size
