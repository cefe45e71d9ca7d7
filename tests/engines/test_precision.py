"""What is computed in which precision, and that OpenVINO is always told."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pteron.engines.base import EngineOptions
from pteron.engines.openvino import precision
from pteron.payloads.coreml.package import CoreMLPackage
from tests.engines.converted import ENGINE, compile_and_load, compile_source, computes_in, convert
from tests.engines.test_states import Attention, SpeechCell, attention_steps, speech_steps


@pytest.fixture(scope="module")
def sources():
    module, steps = SpeechCell().eval(), speech_steps()
    return {
        kind: convert(Plain() if kind == "fp32" else module, steps[0], kind)
        for kind in ("fp16", "fp32")
    }


class Plain(torch.nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return torch.tanh(x) * x


SMALL, LARGE = 1 << 20, 1 << 30


@pytest.mark.parametrize(
    ("asked", "kind", "size", "hint"),
    [
        ("model", "fp16", SMALL, "f32"),
        ("model", "fp16", LARGE, "f16"),
        ("model", "fp32", SMALL, "f32"),
        ("model", "fp32", LARGE, "f32"),
        ("f32", "fp16", LARGE, "f32"),
        ("fast", "fp32", SMALL, "bf16"),
    ],
)
def test_precision(sources, asked, kind, size, hint) -> None:
    function = CoreMLPackage(sources[kind]).program.functions["main"]
    properties = precision.compile_properties(EngineOptions(asked), [function], size)
    if not computes_in(hint):
        pytest.skip(f"this processor has no {hint}")
    assert properties["INFERENCE_PRECISION_HINT"] == hint


def test_openvino_is_told_what_it_compiles_and_loads(sources, tmp_path) -> None:
    options = EngineOptions("model", threads=1)
    for name, compiled in (
        ("compiled", ENGINE.compile_in_memory(sources["fp16"], options)),
        ("loaded", compile_and_load(sources["fp16"], options, tmp_path)),
    ):
        model = compiled._compiled["main"].model
        assert model.get_property("INFERENCE_PRECISION_HINT").to_string() == "f32", name
        assert model.get_property("INFERENCE_NUM_THREADS") == 1, name
        assert model.get_property("DYNAMIC_QUANTIZATION_GROUP_SIZE") == 0, name
        assert model.get_property("KV_CACHE_PRECISION").to_string() == "f16", name


def test_fp16_kernels_agree_with_eager(monkeypatch) -> None:
    monkeypatch.setattr(precision, "_SMALL", 0)
    module, steps = Attention().eval(), attention_steps()
    session = compile_source(convert(module, steps[0])).new_session()
    for step in steps:
        with torch.no_grad():
            expected = module(*step).numpy()
        (actual,) = session.run("main", [tensor.numpy() for tensor in step])
        np.testing.assert_allclose(actual, expected, atol=2e-2, rtol=2e-2)
