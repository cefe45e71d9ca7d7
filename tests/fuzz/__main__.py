"""``python -m tests.fuzz [inputs per format] [processes]``: the whole run, as in ``make fuzz``.

Of Core ML models, which are compiled, one for every hundred files.
"""

from __future__ import annotations

import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from itertools import chain
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fuzz.model_files import save
from tests.fuzz.models import quick_models, slow_models
from tests.fuzz.run import Result, fuzz
from tests.fuzz.run_models import fuzz_models
from tests.fuzz.seeds import FORMATS, seeds

_CORPUS = Path(os.environ.get("PTERON_CORPUS", "../shared/corpus"))


def main(count: int = 200_000, processes: int = 2) -> int:
    """Fuzz every format; prints counts and failures; 1 if anything failed."""
    failed = False
    with ProcessPoolExecutor(processes) as pool:
        for kind in FORMATS:
            begun = time.perf_counter()
            result = _run(pool, kind, count, 4 * processes)
            failed |= _told(kind, result, time.perf_counter() - begun)
    begun = time.perf_counter()
    result = _run_models(count // 100, processes)
    return int(_told("mlpackage", result, time.perf_counter() - begun) or failed)


def _told(kind: str, result: Result, seconds: float) -> bool:
    """Print what came of a format; whether anything failed."""
    print(
        f"{kind}: {result.inputs} inputs, {result.opened} opened,"
        f" {len(result.failures)} failures, slowest {result.slowest:.3f} s,"
        f" largest {result.largest / 2**20:.1f} MB, {seconds:.0f} s"
    )
    for number, what in result.failures[:20]:
        print(f"  input {number}: {what}")
    return bool(result.failures)


def _run_models(count: int, processes: int) -> Result:
    with TemporaryDirectory(prefix="pteron-fuzz-") as name:
        directory = Path(name)
        made = chain(quick_models(directory), slow_models(directory))
        save(made, directory / "models")
        return fuzz_models(directory / "models", 0, count, processes)


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
