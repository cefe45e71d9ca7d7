"""Running many inputs, and what came of them."""

from __future__ import annotations

import random
import time
import tracemalloc
from collections.abc import Sequence
from dataclasses import dataclass, field

from tests.fuzz.exercise import exercise
from tests.fuzz.mutate import mutate

MOST_SECONDS = 2.0
MOST_MEMORY = 64 << 20  # and four times the input
_MEASURE_EVERY = 50  # tracing allocations is slow; slow inputs are measured besides


@dataclass
class Result:
    """What a run found.

    Attributes:
        failures: (seed of the input, what happened).
    """

    inputs: int = 0
    opened: int = 0
    slowest: float = 0.0
    largest: int = 0
    failures: list[tuple[int, str]] = field(default_factory=list)

    def add(self, other: Result) -> None:
        """Sum up the runs of several processes."""
        self.inputs += other.inputs
        self.opened += other.opened
        self.slowest = max(self.slowest, other.slowest)
        self.largest = max(self.largest, other.largest)
        self.failures += other.failures


def fuzz(files: Sequence[bytes], first: int, count: int) -> Result:
    """Try ``count`` inputs, each made from its own number, so that it can be made again."""
    result = Result()
    for number in range(first, first + count):
        data = mutate(files, random.Random(number))
        _try(data, number, result, measure=number % _MEASURE_EVERY == 0)
    return result


def _try(data: bytes, number: int, result: Result, *, measure: bool) -> None:
    result.inputs += 1
    begun = time.perf_counter()
    try:
        result.opened += _measured(data, number, result) if measure else exercise(data)
    except Exception as failure:
        result.failures.append((number, f"{type(failure).__name__}: {failure}"))
    seconds = time.perf_counter() - begun
    if not measure:
        result.slowest = max(result.slowest, seconds)
        if seconds > MOST_SECONDS:
            result.failures.append((number, f"took {seconds:.1f} s"))
        elif seconds > MOST_SECONDS / 20:
            _measured(data, number, result)


def _measured(data: bytes, number: int, result: Result) -> bool:
    tracemalloc.start()
    try:
        return exercise(data)
    finally:
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        result.largest = max(result.largest, peak)
        if peak > MOST_MEMORY + 4 * len(data):
            result.failures.append((number, f"took {peak >> 20} MB for {len(data)} bytes"))
