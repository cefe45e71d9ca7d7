"""Saving a 500 MB program with one changed method name, beside ``cp`` of the file.

Run: ``python -m benchmarks.files_save``. All write to the same directory, in turn. Saving over an
old file waits until the bytes are on the disk, which ``cp`` does not: it stands beside ``cp`` and
``sync``.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import pteron
from pteron.files import NamedBlob, PTEFile
from pteron.schema.program import Chain, ExecutionPlan, Program

SIZE = 500 << 20


def make(path: Path) -> None:
    """A program with ten blobs, 500 MB together."""
    blobs = {f"blob{i}": NamedBlob(os.urandom(SIZE // 10), 128) for i in range(10)}
    plan = ExecutionPlan(name="forward", chains=[Chain()])
    PTEFile(Program(execution_plan=[plan]), named_data=blobs).save(path)


def save_renamed(path: Path, target: Path) -> None:
    """Open, rename the method, save."""
    with pteron.open(path) as file:
        assert isinstance(file, PTEFile)
        file.program.execution_plan[0].name = "renamed"
        file.save(target)


def save_over(path: Path, target: Path) -> None:
    """The same over an old file."""
    target.touch()
    save_renamed(path, target)


def copy(path: Path, target: Path) -> None:
    """Plain ``cp``."""
    subprocess.run(["cp", str(path), str(target)], check=True)


def copy_and_sync(path: Path, target: Path) -> None:
    """``cp``, and its bytes to the disk."""
    copy(path, target)
    subprocess.run(["sync", str(target)], check=True)


def seconds(write: Callable[[Path, Path], None], path: Path, target: Path) -> float:
    """Time to write ``target``, which is removed again."""
    begun = time.perf_counter()
    write(path, target)
    taken = time.perf_counter() - begun
    target.unlink()
    return taken


def main() -> None:
    """Print all times and the ratios."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--directory", type=Path, default=None)
    parser.add_argument("--rounds", type=int, default=5)
    arguments = parser.parse_args()
    ways = (save_renamed, copy, save_over, copy_and_sync)
    with tempfile.TemporaryDirectory(dir=arguments.directory) as directory:
        path, target = Path(directory) / "program.pte", Path(directory) / "copy.pte"
        make(path)
        save_renamed(path, target)  # the first use imports NumPy
        runs = [[seconds(way, path, target) for way in ways] for _ in range(arguments.rounds)]
    save, cp, over, synced = (median(run[side] for run in runs) for side in range(4))
    print(f"new file: save {save:.3f} s  cp {cp:.3f} s  cp / save {cp / save:.2f}")
    print(f"old file: save {over:.3f} s  cp + sync {synced:.3f} s  ratio {synced / over:.2f}")


if __name__ == "__main__":
    main()
