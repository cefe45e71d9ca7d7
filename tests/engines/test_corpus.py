"""Packages that others published."""

from __future__ import annotations

import numpy as np
import pytest

from pteron.payloads.coreml.package import directory_source
from tests.engines.oneop import ENGINE, EngineOptions

RNG = np.random.default_rng(11)


def compiled(path, precision: str = "model"):
    return ENGINE.compile_in_memory(directory_source(path), EngineOptions(precision))


def test_recurrent_loops_treat_every_batch_row_alone(corpus) -> None:
    model = compiled(corpus / "coreml" / "dtln-aec-128-part1.mlpackage")
    info = model.functions["main"]
    rows = [
        np.abs(RNG.normal(size=(2, *[size or 0 for size in value.shape[1:]]))).astype(value.dtype)
        for value in info.inputs
    ]
    session = model.new_session()
    both = session.run("main", rows)
    for row in range(2):
        alone = session.run("main", [value[row : row + 1] for value in rows])
        for output, single in zip(both, alone, strict=True):
            assert np.isfinite(output).all()
            np.testing.assert_allclose(output[row : row + 1], single, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("steps", [1, 4])
def test_a_recurrent_decoder_goes_on_where_it_stopped(corpus, steps) -> None:
    model = compiled(corpus / "coreml" / "silero-vad-decoder.mlpackage", "f32")
    session = model.new_session()
    features = RNG.normal(size=(1, 128, 2 * steps)).astype(np.float32)
    h = c = np.zeros((1, 128), np.float32)
    whole, h_end, c_end = session.run("main", [features, h, c])
    parts = []
    for part in np.split(features, 2, 2):
        y, h, c = session.run("main", [np.ascontiguousarray(part), h, c])
        parts.append(y)
    assert ((whole > 0) & (whole < 1)).all()
    np.testing.assert_allclose(np.concatenate(parts, 2), whole, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(h, h_end, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(c, c_end, rtol=1e-4, atol=1e-6)


def test_a_spectrum_is_that_of_its_tone(corpus) -> None:
    model = compiled(corpus / "coreml" / "silero-vad-stft.mlpackage")
    for bin_ in (10, 40):  # 256-point transform of 16 kHz audio
        tone = np.sin(2 * np.pi * bin_ / 256 * np.arange(576)).astype(np.float32)[None]
        (spectrum,) = model.new_session().run("main", [tone])
        assert spectrum.shape == (1, 129, 4)
        assert (spectrum[0].argmax(0) == bin_).all()
