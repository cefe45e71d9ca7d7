"""Weights lie where they were stored: not copied to translate, to compile, or to be kept."""

from __future__ import annotations

import errno
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from pteron.engines.base import EngineOptions
from pteron.engines.openvino._import import ov
from pteron.engines.openvino.build import build
from pteron.engines.openvino.export import export
from pteron.engines.openvino.passes import Target, rewrite
from pteron.payloads.coreml.package import CoreMLPackage
from tests.engines.converted import ENGINE, convert

WIDTH = 64


@pytest.fixture(scope="module")
def source() -> Any:
    torch.manual_seed(0)
    model = nn.Sequential(nn.Embedding(128, WIDTH), nn.Linear(WIDTH, 128), nn.Linear(128, WIDTH))
    return convert(model, (torch.zeros(1, 3, dtype=torch.int32),))


def large_constants(model: Any) -> list[np.ndarray]:
    """Those of weights and tables, not of biases and shapes."""
    nodes = model.get_ordered_ops()
    found = [np.asarray(node.data) for node in nodes if node.get_type_name() == "Constant"]
    return [array for array in found if array.size >= 64 * WIDTH]


def addresses(data: Any) -> range:
    array = np.frombuffer(data, np.uint8)
    return range(array.ctypes.data, array.ctypes.data + array.nbytes)


@pytest.mark.parametrize("hint", ["f32", "f16", "bf16"])
def test_constants_lie_in_the_payload(source: Any, hint: str) -> None:
    package = CoreMLPackage(source)
    model = build(package, "main").model
    rewrite(model, Target(hint, exact=hint == "f32"))
    (weights,) = (path for path in source.paths() if path.endswith("weight.bin"))
    stored = addresses(source.read(weights))
    constants = large_constants(model)
    assert len(constants) == 3
    assert all(array.ctypes.data in stored for array in constants)


def test_compiling_leaves_fp16_weights_as_they_are(source: Any) -> None:
    """The compiled model has no constant of a weight's size in fp32."""
    model = build(CoreMLPackage(source), "main").model
    rewrite(model, Target("f32", exact=True))
    compiled = ov.Core().compile_model(model, "CPU", {"INFERENCE_PRECISION_HINT": "f32"})
    constants = [
        node.get_output_partial_shape(0).to_shape()
        for node in compiled.get_runtime_model().get_ordered_ops()
        if node.get_rt_info()["layerType"].astype(str) == "Const"
        and node.get_rt_info()["runtimePrecision"].astype(str) == "f32"
    ]
    assert constants
    assert all(np.prod(shape) < 64 * WIDTH for shape in constants)


@pytest.mark.parametrize("precision", ["model", "f32", "fast"])
def test_what_is_kept_gives_the_same_numbers(source: Any, precision: str, tmp_path: Path) -> None:
    options = EngineOptions(precision)
    ENGINE.compile(source, options, tmp_path)
    tokens = [np.array([[5, 0, 127]], np.int32)]
    (kept,) = ENGINE.load(source, options, tmp_path).new_session().run("main", tokens)
    (direct,) = ENGINE.compile_in_memory(source, options).new_session().run("main", tokens)
    np.testing.assert_allclose(kept, direct, rtol=1e-5, atol=1e-6)


def test_a_file_holds_what_openvino_exports(source: Any, tmp_path: Path) -> None:
    compiled = ov.Core().compile_model(build(CoreMLPackage(source), "main").model, "CPU")
    export(compiled, tmp_path / "blob")
    assert (tmp_path / "blob").read_bytes() == bytes(compiled.export_model().getbuffer())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no device that is always full")
def test_a_full_disk_is_told(source: Any) -> None:
    compiled = ov.Core().compile_model(build(CoreMLPackage(source), "main").model, "CPU")
    with pytest.raises(OSError, match="No space") as caught:
        export(compiled, Path("/dev/full"))
    assert caught.value.errno == errno.ENOSPC
