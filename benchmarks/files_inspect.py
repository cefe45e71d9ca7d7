"""``pteron inspect`` as a whole process, beside a script that does the same with ExecuTorch.

Run: ``python -m benchmarks.files_inspect [FILE]``. Processes alternate; medians and their ratio.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path
from statistics import median

EXECUTORCH = """
import sys
from collections import Counter
from executorch.exir._serialize._program import deserialize_pte_binary
file = deserialize_pte_binary(open(sys.argv[1], "rb").read())
for plan in file.program.execution_plan:
    print(plan.name, len(plan.values), "values", plan.non_const_buffer_sizes)
    for index in plan.inputs + plan.outputs:
        value = plan.values[index].val
        print(" ", type(value).__name__, getattr(value, "sizes", ""))
    print(" ", Counter(type(i.instr_args).__name__ for c in plan.chains for i in c.instructions))
    for delegate in plan.delegates:
        data = file.program.backend_delegate_data[delegate.processed.index].data
        print(" ", delegate.id, len(data))
print(len(file.program.constant_buffer), "constants")
"""


def seconds(command: list[str]) -> float:
    """Wall time of a process."""
    begun = time.perf_counter()
    subprocess.run(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=True)
    return time.perf_counter() - begun


def main() -> None:
    """Print both times and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("file", nargs="?", type=Path, help="default: a program made here")
    parser.add_argument("--rounds", type=int, default=3)
    arguments = parser.parse_args()
    path = arguments.file
    if path is None:
        from benchmarks.files_transformer import make

        path = make()
    ours = [str(Path(sys.executable).with_name("pteron")), "inspect", str(path)]
    theirs = [sys.executable, "-c", EXECUTORCH, str(path)]
    runs = [(seconds(ours), seconds(theirs)) for _ in range(arguments.rounds)]
    one, other = (median(run[side] for run in runs) for side in (0, 1))
    print(f"{path}: pteron inspect {one:.3f} s  ExecuTorch {other:.3f} s  ratio {other / one:.1f}")


if __name__ == "__main__":
    main()
