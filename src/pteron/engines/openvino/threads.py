"""Threads and streams in OpenVINO's properties, and what is compiled for one thread only."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pteron.engines.base import EngineOptions
from pteron.engines.openvino import device
from pteron.errors import EngineError

_LARGE = 32 << 20  # bytes of weights from which on reading them takes the time


def thread_properties(hint: str, options: EngineOptions, weight_bytes: int) -> dict[str, Any]:
    """Properties for an inference precision. ``INFERENCE_NUM_THREADS`` is of all streams.

    In bf16, whose kernels get through large weights unevenly, several threads of a single stream
    take over each other's work and go to whichever processor is free. That takes small models
    longer. By default OpenVINO deals the work out in equal parts to threads pinned to processors.
    """
    properties: dict[str, Any] = {"NUM_STREAMS": options.streams}
    threads = _threads(hint, options)
    if threads is not None:
        properties["INFERENCE_NUM_THREADS"] = threads
    if hint == "bf16" and weight_bytes >= _LARGE and options.streams == 1 and threads != 1:
        properties |= {"TBB_PARTITIONER": "AUTO", "ENABLE_CPU_PINNING": False}
    return properties


def one_thread(properties: Mapping[str, Any]) -> bool:
    """Whether a function is compiled for streams of one thread, in 16 bits."""
    threads = properties.get("INFERENCE_NUM_THREADS")
    return bool(
        properties["INFERENCE_PRECISION_HINT"] != "f32"
        and threads is not None
        and threads < 2 * properties["NUM_STREAMS"]
    )


def check_threads(properties: Mapping[str, Any], options: EngineOptions) -> None:
    """Raise EngineError for a 16-bit model that was compiled for one thread per stream and would
    get several here, or the other way round: what OpenVINO makes of one may not run as the other.
    """
    hint = properties["INFERENCE_PRECISION_HINT"]
    if properties.get("INFERENCE_NUM_THREADS") != _threads(hint, options):
        raise EngineError("it was compiled for another number of threads than it has here")


def _threads(hint: str, options: EngineOptions) -> int | None:
    """The limit to say for all streams. In 16 bits, fewer than two each are always said, also where
    there are no more."""
    limit = None if options.threads is None else options.threads * options.streams
    if hint == "f32":
        return limit
    there = device.threads(limit, options.streams)
    return there if there < 2 * options.streams else limit
