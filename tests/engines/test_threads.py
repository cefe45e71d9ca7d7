"""Threads of a call, and streams: calls of several sessions at a time."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch

from pteron.engines.base import EngineOptions
from pteron.engines.openvino import device
from pteron.engines.openvino.threads import one_thread, thread_properties
from pteron.errors import EngineError, UsageError
from pteron.payloads.sources import FilesSource
from tests.engines.converted import ENGINE, compile_and_load, computes_in, convert
from tests.engines.test_states import SpeechCell, speech_steps

needs_bf16 = pytest.mark.skipif(
    not computes_in("bf16"), reason="this processor computes nothing in bf16"
)


@pytest.fixture(scope="module")
def source() -> FilesSource:
    return convert(SpeechCell().eval(), speech_steps()[0])


def test_threads_are_those_openvino_takes() -> None:
    assert device.threads(1) == 1
    assert device.threads(None) <= device.threads(1 << 10) <= os.cpu_count()
    assert device.threads(None, 2) <= os.cpu_count()


@needs_bf16
@pytest.mark.parametrize(("then", "now"), [(1, 2), (2, 1)])
def test_what_is_compiled_for_one_thread_is_loaded_for_no_other_number(
    source, tmp_path, monkeypatch, then, now
) -> None:
    monkeypatch.setattr(device, "threads", lambda limit, streams: then)
    compile_and_load(source, EngineOptions("fast"), tmp_path)
    monkeypatch.setattr(device, "threads", lambda limit, streams: now)
    with pytest.raises(EngineError, match="another number of threads"):
        ENGINE.load(source, EngineOptions("fast"), tmp_path)


@pytest.mark.parametrize(
    ("threads", "streams", "there", "said", "one"),
    [
        (None, 1, 8, None, False),
        (None, 1, 1, 1, True),
        (1, 1, 1, 1, True),
        (4, 1, 4, 4, False),
        (4, 1, 1, 1, True),  # more than there are
        (1, 4, 4, 4, True),
        (2, 4, 8, 8, False),
        (2, 4, 7, 7, True),
        (None, 4, 8, None, False),
        (None, 4, 2, 2, True),
    ],
)
def test_in_16_bits_too_few_threads_are_always_said(
    monkeypatch, threads, streams, there, said, one
) -> None:
    monkeypatch.setattr(device, "threads", lambda limit, streams: there)
    options = EngineOptions("fast", threads, streams)
    for hint in ("f16", "bf16"):
        properties = thread_properties(hint, options, 0) | {"INFERENCE_PRECISION_HINT": hint}
        assert properties.get("INFERENCE_NUM_THREADS") == said
        assert properties["NUM_STREAMS"] == streams
        assert one_thread(properties) == one
    exact = thread_properties("f32", options, 0) | {"INFERENCE_PRECISION_HINT": "f32"}
    assert exact.get("INFERENCE_NUM_THREADS") == (threads and threads * streams)
    assert not one_thread(exact)


@pytest.mark.parametrize(
    ("hint", "size", "threads", "streams", "shared"),
    [
        ("bf16", 1 << 30, 2, 1, True),
        ("bf16", 1 << 20, 2, 1, False),
        ("bf16", 1 << 30, 1, 1, False),
        ("bf16", 1 << 30, 2, 2, False),
        ("f16", 1 << 30, 2, 1, False),
        ("f32", 1 << 30, 2, 1, False),
    ],
)
def test_threads_share_the_work_of_large_weights_in_bf16(
    monkeypatch, hint, size, threads, streams, shared
) -> None:
    monkeypatch.setattr(device, "threads", lambda limit, streams: limit)
    properties = thread_properties(hint, EngineOptions("fast", threads, streams), size)
    assert (properties.get("TBB_PARTITIONER") == "AUTO") == shared
    assert (properties.get("ENABLE_CPU_PINNING") is False) == shared


def test_no_streams(source) -> None:
    with pytest.raises(UsageError, match="streams must be at least 1, not 0"):
        ENGINE.compile_in_memory(source, EngineOptions(streams=0))


@pytest.mark.parametrize("precision", ["model", "f32", "fast"])
def test_more_threads_than_openvino_counts(source, precision) -> None:
    for threads, streams in [(None, 1 << 31), (1 << 16, 1 << 16)]:
        with pytest.raises(UsageError, match="threads of all streams are at most 2147483647, not"):
            ENGINE.compile_in_memory(source, EngineOptions(precision, threads, streams))


@pytest.mark.parametrize("precision", ["model", "f32", "fast"])
@pytest.mark.parametrize("stored", [False, True])
def test_streams_compute_what_one_does(source, tmp_path, precision, stored) -> None:
    """Each from a thread of its own, with states of its own, more of them than streams."""
    inputs = [[t.numpy() for t in step] for step in speech_steps()] * 3

    def outputs(session) -> list[np.ndarray]:
        return [session.run("main", step)[0] for step in inputs]

    one = EngineOptions(precision, threads=1)
    expected = outputs(ENGINE.compile_in_memory(source, one).new_session())
    several = EngineOptions(precision, threads=1, streams=2)
    compiled = (
        compile_and_load(source, several, tmp_path)
        if stored
        else ENGINE.compile_in_memory(source, several)
    )
    sessions = [compiled.new_session() for _ in range(5)]
    with ThreadPoolExecutor(len(sessions)) as pool:
        for found in pool.map(outputs, sessions):
            np.testing.assert_array_equal(found, expected)
    model = compiled._compiled["main"].model
    assert model.get_property("NUM_STREAMS") == device.threads(2, 2)
    with torch.no_grad():
        module = SpeechCell().eval()
        eager = [module(*step).numpy() for step in speech_steps()]
    rounding = 5e-2 if precision == "fast" else 5e-3
    np.testing.assert_allclose(expected[: len(eager)], eager, rtol=rounding, atol=rounding)
