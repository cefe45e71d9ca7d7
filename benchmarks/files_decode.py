"""Decoding every table of a 540 MB program of 30 transformer layers, beside ExecuTorch's reader.

Run: ``python -m benchmarks.files_decode [FILE]``. Each reader runs in processes of its own; times
exclude imports. Memory is given twice: what decoding adds at its peak to what the process had after
importing, and the peak of the whole process (Linux only: VmHWM).
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from statistics import median

_MEASURE = """
import json, re, sys, time
{imports}
def memory(what):
    return int(re.search(what + r":\\s*(\\d+) kB", open("/proc/self/status").read())[1]) * 1024
open("/proc/self/clear_refs", "w").write("5")  # begin the peak anew
before = memory("VmRSS")
begun = time.perf_counter()
{work}
seconds = time.perf_counter() - begun
peak = memory("VmHWM")
print(json.dumps({{"seconds": seconds, "added": peak - before, "process": peak}}))
"""
PTERON = _MEASURE.format(
    imports="import pteron\nfrom pteron.flatbuf import load_all\npteron.open",
    work="file = pteron.open(sys.argv[1]); load_all(file.program); file.constants; file.delegates",
)
EXECUTORCH = _MEASURE.format(
    imports="from executorch.exir._serialize._program import deserialize_pte_binary",
    work="file = deserialize_pte_binary(open(sys.argv[1], 'rb').read())",
)


def measure(script: str, path: Path) -> dict[str, float]:
    """Seconds, and bytes of memory, of one run."""
    run = subprocess.run(
        [sys.executable, "-c", script, str(path)], capture_output=True, text=True, check=True
    )
    result: dict[str, float] = json.loads(run.stdout.splitlines()[-1])
    return result


def main() -> None:
    """Print both times and peaks, and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, help="default: a program made here")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    path = arguments.file
    if path is None:
        from benchmarks.files_transformer import make

        path = make()
    runs = [(measure(PTERON, path), measure(EXECUTORCH, path)) for _ in range(arguments.rounds)]
    print(f"{path}: {path.stat().st_size / 1e6:.0f} MB, median of {arguments.rounds} runs")
    for what, unit, scale in (("seconds", "s", 1), ("added", "MB", 1e6), ("process", "MB", 1e6)):
        ours, theirs = (median(run[side][what] for run in runs) for side in (0, 1))
        print(
            f"{what:8} pteron {ours / scale:8.3f} {unit}  ExecuTorch {theirs / scale:8.3f} {unit}"
            f"  ratio {theirs / ours:.1f}"
        )


if __name__ == "__main__":
    main()
