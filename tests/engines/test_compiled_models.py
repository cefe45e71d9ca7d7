"""Compiled models (``.mlmodelc``): their programs are text, and compute what packages compute."""

from __future__ import annotations

import shutil
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

import pteron
from examples.silero_vad.model import SileroVAD, SpectralMagnitude
from pteron.errors import EngineError, FormatError
from pteron.payloads.coreml.package import CoreMLPackage, directory_source
from pteron.payloads.coreml.reader import READER
from pteron.payloads.sources import FilesSource
from tests.engines.compiled_form import as_compiled
from tests.engines.converted import compile_source, convert
from tests.engines.test_states import Attention, SpeechCell, attention_steps, speech_steps

PARTS = ("quantized_data", "scale", "zero_point")
CORPUS_VAD = "coreml/silero-vad-256ms-int8.mlmodelc"


@pytest.mark.parametrize(
    ("module", "steps", "short"),
    [(SpeechCell, speech_steps, True), (Attention, attention_steps, False)],
)
def test_the_compiled_form_gives_the_packages_numbers(module, steps, short) -> None:
    package = convert(module().eval(), steps()[0])
    compiled = as_compiled(package, short)
    models = [compile_source(source) for source in (package, compiled)]
    assert models[0].functions == models[1].functions
    sessions = [model.new_session() for model in models]
    for step in steps():
        arrays = [tensor.numpy() for tensor in step]
        one, other = (session.run("main", arrays) for session in sessions)
        np.testing.assert_array_equal(one[0], other[0])


def test_published_compiled_models_compute_what_their_text_says(corpus: Path) -> None:
    x, y = np.float16([range(10)]), np.float16([range(10, 20)])
    add = pteron.load(corpus / "coreml/coremltools-add-model.mlmodelc", cache=None)
    np.testing.assert_array_equal(add.methods["main"](x, y)[0], x * y)
    several = pteron.load(corpus / "coreml/coreml-rs-test-multi-io.mlmodelc", cache=None)
    floats, ints = np.float32([[1, 2, 3, 4]]), np.float32([[5, 6]])
    total, count = several.methods["main"](int_input=ints, float_input=floats)
    np.testing.assert_array_equal(total, np.float16(2 * floats + 1))
    np.testing.assert_array_equal(count, np.float16(2 * ints))


class FlooredMagnitude(SpectralMagnitude):
    """As the published model has it: with 2^-24 below the root."""

    def forward(self, samples: torch.Tensor) -> torch.Tensor:
        padded = nn.functional.pad(samples, (0, 64), mode="reflect")
        spectrum = nn.functional.conv1d(padded.unsqueeze(1), self.forward_basis_buffer, stride=128)
        return torch.sqrt(spectrum[:, :129] ** 2 + spectrum[:, 129:] ** 2 + 2.0**-24)


def test_a_published_voice_detector_agrees_with_eager_on_its_weights(corpus: Path) -> None:
    """Its weights, dequantised, in the torch module of the same architecture."""
    reference = SileroVAD().eval()
    reference.stft = FlooredMagnitude()
    reference.load_state_dict(vad_weights(corpus / CORPUS_VAD), strict=False)
    model = pteron.load(corpus / CORPUS_VAD, cache=None)
    generator = np.random.default_rng(0)
    context, h, c = np.zeros((1, 64)), np.zeros((1, 128)), np.zeros((1, 128))
    for loudness in (0.0, 0.02, 0.3, 0.05):
        chunk = loudness * generator.normal(size=(1, 4096))
        samples = np.concatenate([context, chunk], 1).astype(np.float32)
        inputs = [samples, h.astype(np.float32), c.astype(np.float32)]
        probability, h, c = model.methods["main"](*inputs)
        with torch.no_grad():
            parts = [reference(part).item() for part in torch.tensor(samples[:, 64:]).split(512, 1)]
        context = chunk[:, -64:]
        assert abs(probability.item() - (1 - np.prod(1 - np.array(parts)))) < 4e-3
        np.testing.assert_allclose(h, reference.h, atol=4e-3)
        np.testing.assert_allclose(c, reference.c, atol=2e-2)


def vad_weights(directory: Path) -> dict[str, torch.Tensor]:
    """State dict of the published model; Core ML orders an LSTM's gates i, f, o, g."""
    found = {
        c.name: c.read().astype(np.float32) for c in READER.constants(directory_source(directory))
    }

    def weight(name: str) -> np.ndarray:
        if name in found:
            return found[name]
        data, scale, zero = (
            found[f"{name}.{p}"] for p in ("quantized_data", "scale", "zero_point")
        )
        shape = (-1, *[1] * (data.ndim - 1))
        return (data - zero.reshape(shape)) * scale.reshape(shape)

    def gates(values: np.ndarray) -> np.ndarray:
        i, f, o, g = np.split(values, 4)
        return np.concatenate([i, f, g, o])

    state = {"stft.forward_basis_buffer": weight("stft_forward_basis_to_fp16_quantized")}
    for index in range(4):
        theirs, ours = f"encoder_layers_{2 * index}", f"encoder.{index}.reparam_conv"
        state[f"{ours}.weight"] = weight(f"{theirs}_weight_to_fp16_quantized")
        state[f"{ours}.bias"] = weight(f"{theirs}_bias_to_fp16")
    state["decoder.rnn.weight_ih"] = gates(weight("concat_1_quantized"))
    state["decoder.rnn.weight_hh"] = gates(weight("concat_2_quantized"))
    state["decoder.rnn.bias_ih"] = gates(weight("concat_0"))
    state["decoder.rnn.bias_hh"] = np.zeros(512, np.float32)
    state["decoder.decoder.2.weight"] = weight("decoder_final_conv_weight_to_fp16")
    state["decoder.decoder.2.bias"] = np.float32([float.fromhex("0x1.dfp-5")])
    return {name: torch.from_numpy(value) for name, value in state.items()}


def test_a_compiled_model_is_known_by_its_content(corpus: Path, tmp_path: Path) -> None:
    directory = tmp_path / "no suffix"
    shutil.copytree(corpus / "coreml/coremltools-add-model.mlmodelc", directory)
    x = np.ones((1, 10), np.float16)
    assert pteron.load(directory, cache=None).methods["main"](x, x)[0].sum() == 10


@pytest.fixture(scope="module")
def compiled_linear() -> FilesSource:
    return as_compiled(convert(nn.Linear(64, 8).eval(), (torch.zeros(2, 64),)))


def test_names_and_order_without_a_known_description(corpus: Path) -> None:
    source = directory_source(corpus / CORPUS_VAD)
    files = dict(source.files) | {"model.mlmodelc/coremldata.bin": memoryview(b"another layout")}
    info = compile_source(FilesSource(source.backend_id, files)).functions["main"]
    assert [v.name for v in info.inputs] == ["audio_input", "hidden_state", "cell_state"]
    assert [v.name for v in info.outputs] == ["vad_output", "new_hidden_state", "new_cell_state"]


def test_errors_in_the_text_name_line_op_and_function(compiled_linear: FilesSource) -> None:
    path = "model.mlmodelc/model.mil"
    text = bytes(compiled_linear.files[path]).decode()

    def compile_with(old: str, new: str) -> None:
        assert old in text
        files = dict(compiled_linear.files) | {path: memoryview(text.replace(old, new).encode())}
        compile_source(FilesSource(compiled_linear.backend_id, files))

    with pytest.raises(FormatError, match=r"model\.mil, line 1"):
        compile_with("program(", "program)")
    with pytest.raises(EngineError, match=r"function 'main', fancy '.*': unknown op"):
        compile_with(" linear(", " fancy(")
    with pytest.raises(EngineError, match="unknown opset 'ios99'"):
        compile_with("<ios18>", "<ios99>")
    with pytest.raises(EngineError, match=r"const '.*weights at @model_path/weights/other\.bin"):
        compile_with("weights/weight.bin", "weights/other.bin")


def test_its_constants_and_the_package_description(compiled_linear: FilesSource) -> None:
    package = CoreMLPackage(compiled_linear)
    assert package.is_compiled
    assert package.model.specificationVersion == 9
    (constant,) = READER.constants(compiled_linear)
    assert constant.shape == (8, 64)
