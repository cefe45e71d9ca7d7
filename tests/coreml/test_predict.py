"""``predict`` and ``make_state`` of coremltools models, as coremltools documents them."""

from __future__ import annotations

import coremltools as ct
import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

from pteron.coreml import disable_predict, enable_predict
from pteron.errors import StateError, UsageError
from tests.engines.test_states import SpeechCell, speech_steps


@pytest.fixture(autouse=True)
def predicting():
    enable_predict()
    yield
    disable_predict()


def converted(module, example, **options):
    program = torch.export.export(module.eval(), example).run_decompositions()
    options.setdefault("minimum_deployment_target", ct.target.iOS18)
    return ct.convert(program, skip_model_load=True, **options)


class Mean(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x.mean((2, 3))


def test_states_go_on_from_call_to_call() -> None:
    module, steps = SpeechCell().eval(), speech_steps()
    model = converted(module, steps[0])
    state = model.make_state()
    (name,) = model.output_description
    for (chunk,) in steps:
        with torch.no_grad():
            expected = module(chunk).numpy()
        answer = model.predict({"chunk": chunk.numpy()}, state)
        np.testing.assert_allclose(answer[name], expected, atol=5e-3)
    np.testing.assert_allclose(state.read_state("h"), module.h, atol=5e-3)
    state.write_state("h", np.zeros((1, 8)))
    assert not state.read_state("h").any()
    with pytest.raises(UsageError, match="make_state"):
        model.predict({"chunk": chunk.numpy()})


def test_a_state_is_for_the_model_that_made_it() -> None:
    steps = speech_steps()
    first, second = (converted(SpeechCell().eval(), steps[0]) for _ in range(2))
    stateless = converted(Mean(), (torch.rand(1, 2, 3, 3),))
    (input_name,) = stateless.input_description
    chunk, ones = {"chunk": steps[0][0].numpy()}, {input_name: np.ones((1, 2, 3, 3), np.float32)}
    state = first.make_state()
    with pytest.raises(UsageError, match="belongs to another model: pass what make_state"):
        second.predict(chunk, state)
    with pytest.raises(UsageError, match="belongs to another model, and this one has no states"):
        stateless.predict(ones, state)
    with pytest.raises(UsageError, match=r"must be what model.make_state\(\) returns, not str"):
        first.predict(chunk, state="x")
    assert not state.read_state("h").any()
    stateless.predict(ones, stateless.make_state())


@pytest.mark.parametrize(
    ("name", "value", "message"),
    [
        ("g", np.zeros((1, 8)), r"no state 'g'.*the model's states: h"),
        ("h", np.zeros(8), r"float16\[1, 8\], got float64\[8\]"),
        ("h", np.full((1, 8), 1e9), "too large"),
        ("h", np.full((1, 8), "a"), "got str"),
    ],
    ids=["name", "shape", "range", "kind"],
)
def test_what_a_state_cannot_hold(name: str, value: np.ndarray, message: str) -> None:
    state = converted(SpeechCell().eval(), speech_steps()[0]).make_state()
    with pytest.raises(StateError, match=message):
        state.write_state(name, value)
    assert not state.read_state("h").any()


@pytest.mark.parametrize("layout", ["RGB", "BGR", "GRAYSCALE"])
def test_images_go_in_with_scale_and_bias(layout) -> None:
    channels = 1 if layout == "GRAYSCALE" else 3
    image = ct.ImageType(
        shape=(1, channels, 6, 5),
        scale=0.5,
        bias=[1.0] * channels if channels > 1 else 1.0,
        color_layout=getattr(ct.colorlayout, layout),
    )
    model = converted(Mean(), (torch.rand(1, channels, 6, 5),), inputs=[image])
    pixels = np.random.default_rng(0).integers(0, 255, (6, 5, channels)).astype(np.uint8)
    picture = Image.fromarray(pixels if channels > 1 else pixels[..., 0])
    (input_name,), (name,) = model.input_description, model.output_description
    expected = pixels.reshape(-1, channels).mean(0) * 0.5 + 1
    answer = model.predict({input_name: picture})[name][0]
    expected = expected[::-1] if layout == "BGR" else expected
    np.testing.assert_allclose(answer.astype(float), expected, rtol=2e-3)


def test_lists_of_inputs_and_unknown_or_missing_names() -> None:
    model = converted(Mean(), (torch.rand(1, 2, 3, 3),))
    (input_name,), (name,) = model.input_description, model.output_description
    ones = np.ones((1, 2, 3, 3), np.float32)
    answers = model.predict([{input_name: ones}, {input_name: 2 * ones}])
    np.testing.assert_array_equal([a[name][0, 0] for a in answers], [1, 2])
    with pytest.raises(UsageError, match="'other'"):
        model.predict({"other": ones})
    with pytest.raises(
        UsageError, match=rf"'{input_name}' is missing: it must be .*\[1, 2, 3, 3\]"
    ):
        model.predict({})


@pytest.mark.parametrize("value", ["text", [[1], [1, 2]], {"a": 1}])
def test_what_is_no_array(value) -> None:
    model = converted(Mean(), (torch.rand(1, 2, 3, 3),))
    (input_name,) = model.input_description
    came = type(value).__name__
    with pytest.raises(UsageError, match=rf"must be float.*\[1, 2, 3, 3\], not this {came}"):
        model.predict({input_name: value})
    with pytest.raises(UsageError, match="a dictionary of inputs by name, not str"):
        model.predict("text")


def test_disabling_gives_coremltools_its_own_back() -> None:
    model = converted(Mean(), (torch.rand(1, 2, 3, 3),))
    disable_predict()
    with pytest.raises(Exception, match="macOS"):
        model.predict({"x": np.ones((1, 2, 3, 3), np.float32)})
