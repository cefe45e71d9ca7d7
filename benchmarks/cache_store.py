"""Storing a compiled model, beside a plain fsynced copy of the same bytes.

Run: ``python -m benchmarks.cache_store [MiB]``. Both write the same source to the same disk, taken
in turn; the source lies outside of the cache, so a store copies, digests and flushes. Medians are
printed, and the ratio of the speeds.
"""

from __future__ import annotations

import argparse
import os
import shutil
import statistics
import tempfile
from pathlib import Path
from time import perf_counter

from pteron.cache import DirectoryCache


def plain_copy(source: Path, target: Path) -> float:
    """Seconds to copy every file and flush it to the disk."""
    started = perf_counter()
    target.mkdir()
    for path in source.iterdir():
        shutil.copyfile(path, target / path.name)
        with (target / path.name).open("rb") as file:
            os.fsync(file.fileno())
    return perf_counter() - started


def store(cache: DirectoryCache, source: Path, name: str) -> float:
    """Seconds to store the same files."""
    started = perf_counter()
    entry = cache.store(name, source)
    seconds = perf_counter() - started
    entry.close()
    return seconds


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mebibytes", nargs="?", type=int, default=200)
    parser.add_argument("--runs", type=int, default=7)
    arguments = parser.parse_args()
    copies, stores = [], []
    with tempfile.TemporaryDirectory() as directory:
        root = Path(directory)
        source = root / "source"
        source.mkdir()
        (source / "function0.blob").write_bytes(os.urandom(1 << 20) * arguments.mebibytes)
        (source / "functions.json").write_bytes(os.urandom(4096))
        cache = DirectoryCache(root / "cache")
        cache.find("absent")
        for run in range(arguments.runs):
            copies.append(plain_copy(source, root / "copy"))
            shutil.rmtree(root / "copy")
            stores.append(store(cache, source, f"entry-{run}"))
            cache.purge()
    copy, stored = statistics.median(copies), statistics.median(stores)
    print(f"{arguments.mebibytes} MiB, {arguments.runs} runs")
    print(f"fsynced copy {1000 * copy:8.1f} ms")
    print(f"store        {1000 * stored:8.1f} ms")
    print(f"store speed / copy speed {copy / stored:.2f}")


if __name__ == "__main__":
    main()
