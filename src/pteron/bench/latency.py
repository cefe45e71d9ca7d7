"""Wall time of calls, as a distribution."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

from pteron.bench.result import Latency
from pteron.runtime.method import Method


def measure_latency(method: Method, inputs: Mapping[str, Any], warmup: int, repeat: int) -> Latency:
    """Call ``warmup + repeat`` times with the same inputs; the last ``repeat`` count."""
    for _ in range(warmup):
        method(**inputs)
    return distribution([_seconds(method, inputs) for _ in range(repeat)])


def distribution(seconds: Sequence[float]) -> Latency:
    """Mean, percentiles (linearly interpolated) and extremes of at least one time."""
    p50, p90, p99 = np.percentile(seconds, [50, 90, 99]).tolist()
    return Latency(float(np.mean(seconds)), p50, p90, p99, min(seconds), max(seconds))


def _seconds(method: Method, inputs: Mapping[str, Any]) -> float:
    start = perf_counter()
    method(**inputs)
    return perf_counter() - start
