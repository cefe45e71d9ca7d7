"""Calls per second of several streams at once."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter
from typing import Any

from pteron.runtime.method import Method
from pteron.runtime.module import Module


def call_at_once(
    module: Module, method: str, inputs: Mapping[str, Any], streams: int, warmup: int, repeat: int
) -> tuple[float, list[tuple[Any, ...]]]:
    """Call a method of ``streams`` forks, each from a thread of its own.

    Every fork is called ``warmup`` times before, then ``repeat`` times. Returns calls per second
    of all of them, and what each gave last.
    """
    forks = [module.fork().method(method) for _ in range(streams)]
    with ThreadPoolExecutor(streams) as pool:
        list(pool.map(lambda fork: _call(fork, inputs, warmup), forks))
        start = perf_counter()
        outputs = list(pool.map(lambda fork: _call(fork, inputs, repeat), forks))
        return streams * repeat / (perf_counter() - start), outputs


def _call(method: Method, inputs: Mapping[str, Any], times: int) -> tuple[Any, ...]:
    outputs: tuple[Any, ...] = ()
    for _ in range(times):
        outputs = method(**inputs)
    return outputs
