"""Calls per second of several streams at once."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any

from pteron.bench.result import Throughput
from pteron.runtime.method import Method
from pteron.runtime.module import Module


def measure_throughput(
    module: Module, method: str, inputs: Mapping[str, Any], streams: int, warmup: int, repeat: int
) -> Throughput:
    """Call a method of ``streams`` forks, each from a thread of its own.

    Every fork is called ``warmup`` times before, then ``repeat`` times.
    """
    forks = [module.fork().method(method) for _ in range(streams)]
    with ThreadPoolExecutor(streams) as pool:
        _call_all(pool, forks, inputs, warmup)
        start = perf_counter()
        _call_all(pool, forks, inputs, repeat)
        return Throughput(streams, streams * repeat / (perf_counter() - start))


def _call_all(
    pool: ThreadPoolExecutor, methods: list[Method], inputs: Mapping[str, Any], times: int
) -> None:
    for done in [pool.submit(_call, method, inputs, times) for method in methods]:
        done.result()


def _call(method: Method, inputs: Mapping[str, Any], times: int) -> None:
    for _ in range(times):
        method(**inputs)
