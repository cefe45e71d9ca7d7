"""Finding an entry among 10,000, beside the bare system calls that it cannot do without.

Run: ``python -m benchmarks.cache_lookup``. Both sides take the same entries in the same random
order, alternating, in one process; medians are printed, and their ratio.
"""

from __future__ import annotations

import argparse
import fcntl
import json
import os
import random
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

from pteron.cache import DirectoryCache

FILES = {"model.xml": 2000, "weights.bin": 4000, "states.json": 300}


def fill(cache: DirectoryCache, count: int) -> list[str]:
    """Make entries as :meth:`DirectoryCache.store` does, but without waiting for the disk."""
    cache.find("absent")
    names = [f"{number:064x}" for number in range(count)]
    for name in names:
        generation = cache.path / "models" / f"{name}.0123456789abcdef"
        (generation / "model").mkdir(parents=True)
        for path, size in FILES.items():
            (generation / "model" / path).write_bytes(bytes(size))
        manifest = {
            "identifier": name,
            "created": 1.0,
            "compile_seconds": 1.0,
            "key": {"payload_digest": name, "engine": "openvino", "engine_version": "2026.4"},
            "files": {path: [size, "0" * 32] for path, size in FILES.items()},
        }
        (generation / "manifest.json").write_text(json.dumps(manifest, indent=1))
        (cache.path / "entries" / name).write_text(generation.name)
    return names


def bare(root: str, name: str) -> None:
    """The system calls of a hit: pointer, manifest and its lock, each file's size, time of use."""
    fd = os.open(f"{root}/entries/{name}", os.O_RDONLY)
    generation = os.read(fd, 256).decode()
    os.close(fd)
    fd = os.open(f"{root}/models/{generation}/manifest.json", os.O_RDONLY)
    fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    os.read(fd, 1 << 16)
    with os.scandir(f"{root}/models/{generation}/model") as members:
        for member in members:
            member.stat(follow_symlinks=False)
    os.utime(fd)
    os.close(fd)


def timed(action: Callable[[], object]) -> float:
    started = time.perf_counter()
    action()
    return time.perf_counter() - started


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--entries", type=int, default=10_000)
    parser.add_argument("--look-ups", type=int, default=5_000)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as directory:
        cache = DirectoryCache(Path(directory) / "cache")
        names = fill(cache, arguments.entries)
        chance = random.Random(0)
        hits, bares = [], []
        for _ in range(arguments.look_ups):
            name = chance.choice(names)
            first = chance.random() < 0.5
            for find in (first, not first):
                if find:
                    hits.append(timed(lambda: cache.find(name).close()))  # noqa: B023
                else:
                    bares.append(timed(lambda: bare(str(cache.path), name)))  # noqa: B023
        assert cache.statistics().hits == arguments.look_ups
    print(f"{arguments.entries} entries, {arguments.look_ups} look-ups")
    print(f"hit   {median(hits) * 1e6:8.1f} us median")
    print(f"bare  {median(bares) * 1e6:8.1f} us median")
    print(f"ratio {median(hits) / median(bares):8.2f}")


if __name__ == "__main__":
    main()
