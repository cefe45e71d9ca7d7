"""``python -m tests.fuzz [inputs per format] [processes]``: the whole run, as in ``make fuzz``."""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

from tests.fuzz.run import Result, fuzz
from tests.fuzz.seeds import FORMATS, seeds

_CORPUS = Path(os.environ.get("PTERON_CORPUS", "../shared/corpus"))


def main(count: int = 200_000, processes: int = 2) -> int:
    """Fuzz every format; prints counts and failures; 1 if anything failed."""
    failed = False
    with ProcessPoolExecutor(processes) as pool:
        for kind in FORMATS:
            begun = time.perf_counter()
            result = _run(pool, kind, count, 4 * processes)
            failed |= bool(result.failures)
            print(
                f"{kind}: {result.inputs} inputs, {result.opened} opened,"
                f" {len(result.failures)} failures, slowest {result.slowest:.3f} s,"
                f" largest {result.largest / 2**20:.1f} MB, {time.perf_counter() - begun:.0f} s"
            )
            for number, what in result.failures[:20]:
                print(f"  input {number}: {what}")
    return int(failed)


def _run(pool: ProcessPoolExecutor, kind: str, count: int, parts: int) -> Result:
    files = seeds(kind, _CORPUS)
    size = -(-count // parts)
    runs = [pool.submit(fuzz, files, part * size, size) for part in range(parts)]
    result = Result()
    for run in runs:
        result.add(run.result())
    return result


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
