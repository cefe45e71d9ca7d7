"""How fast this machine reads memory: the bound of every call that must see all of its weights."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from time import perf_counter

import numpy as np

BYTES = 1 << 29
"""Read per round: more than processors' caches hold, or most of it."""
ROUNDS = 3


def read_bandwidth(threads: int | None = None) -> float:
    """Bytes per second of streaming reads, the best of some rounds.

    Args:
        threads: that read side by side, each its own part; None: one per processor.
    """
    count = threads or os.cpu_count() or 1
    memory = np.ones(BYTES // 4, np.float32)
    parts = np.array_split(memory, count)
    with ThreadPoolExecutor(count) as pool:
        return BYTES / min(_round(pool, parts) for _ in range(ROUNDS))


def _round(pool: ThreadPoolExecutor, parts: list[np.ndarray]) -> float:
    start = perf_counter()
    list(pool.map(np.maximum.reduce, parts))
    return perf_counter() - start
