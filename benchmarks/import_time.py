"""Seconds to ``import pteron`` in a fresh interpreter, beside an empty one and the peers' imports.

Run: ``python benchmarks/import_time.py``. Prints medians over several runs taken in turn.
"""

from __future__ import annotations

import statistics
import subprocess
import sys
from time import perf_counter

STATEMENTS = {
    "nothing": "pass",
    "pteron": "import pteron",
    "numpy": "import numpy",
    "openvino": "import openvino",
    "executorch.runtime": "import executorch.runtime",
}
RUNS = 7


def seconds(statement: str) -> float:
    """Wall time of one fresh interpreter."""
    started = perf_counter()
    subprocess.run([sys.executable, "-c", statement], capture_output=True, check=True)
    return perf_counter() - started


def main() -> None:
    """Time every statement in turn, RUNS times, and print the table."""
    times: dict[str, list[float]] = {name: [] for name in STATEMENTS}
    for _ in range(RUNS):
        for name, statement in STATEMENTS.items():
            times[name].append(seconds(statement))
    empty = statistics.median(times["nothing"])
    for name, values in times.items():
        median = statistics.median(values)
        print(f"{name:20} {1000 * median:7.0f} ms, over nothing {1000 * (median - empty):7.0f} ms")


if __name__ == "__main__":
    main()
