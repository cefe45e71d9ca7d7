"""Seconds to digest a payload, beside other hashes and a plain read of the same bytes.

Run: ``python benchmarks/payload_digest.py [MiB]``. Prints medians over several runs taken in turn.
"""

from __future__ import annotations

import hashlib
import os
import statistics
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import xxhash

from pteron.payloads.sources import FilesSource, map_directory

RUNS = 7


def ways(directory: Path) -> dict[str, Callable[[], object]]:
    """What to time; every way reads all files of the payload, from a map that is in memory."""
    files = map_directory(directory, "model.mlpackage")
    return {
        "read": lambda: [sum(view[::4096]) for view in files.values()],
        "xxh3_128": lambda: [xxhash.xxh3_128(view).digest() for view in files.values()],
        "pteron": lambda: FilesSource("CoreMLBackend", files).digest(),
        "sha256": lambda: [hashlib.sha256(view).digest() for view in files.values()],
        "blake2b": lambda: [hashlib.blake2b(view).digest() for view in files.values()],
    }


def main(mebibytes: int = 250) -> None:
    """Time every way in turn, RUNS times, and print the table."""
    with tempfile.TemporaryDirectory() as name:
        Path(name, "weight.bin").write_bytes(os.urandom(1 << 20) * mebibytes)
        timed = ways(Path(name))
        times: dict[str, list[float]] = {way: [] for way in timed}
        for _ in range(RUNS):
            for way, call in timed.items():
                started = perf_counter()
                call()
                times[way].append(perf_counter() - started)
    ours = statistics.median(times["pteron"])
    for way, seconds in times.items():
        median = statistics.median(seconds)
        print(f"{way:10} {1000 * median:7.1f} ms, {median / ours:5.2f} of pteron's")


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
