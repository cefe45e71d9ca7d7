"""Bundling a program of 250 MB with a test case, beside ExecuTorch's ``BundledProgram``.

Run: ``python -m benchmarks.edit_bundle``. Both read the program from one file, write the bundle to
another, and take turns; medians and ratio. Each begins with the tensors at hand and all imports
done.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import torch
from executorch.devtools.bundled_program.config import MethodTestCase, MethodTestSuite
from executorch.devtools.bundled_program.core import BundledProgram
from executorch.devtools.bundled_program.serialize import (
    serialize_from_bundled_program_to_flatbuffer,
)

import pteron
from pteron import edit
from tests.files.programs import add_constant_program

SIZE = 250_000_000
ROUNDS = 5


def with_pteron(program: Path, bundle: Path) -> None:
    """Bundle the case with pteron."""
    case = edit.Case({"0": np.ones((2, 2), np.float32)})
    with pteron.open(program) as file:
        assert isinstance(file, pteron.PTEFile)
        edit.bundle(file, {"forward": [case]}).save(bundle)


def with_executorch(program: Path, bundle: Path) -> None:
    """Bundle the case with ExecuTorch."""
    suites = [MethodTestSuite("forward", [MethodTestCase([torch.ones(2, 2)])])]
    made = BundledProgram(None, suites, str(program))
    bundle.write_bytes(serialize_from_bundled_program_to_flatbuffer(made))


def seconds(make: Callable[[Path, Path], None], program: Path, bundle: Path) -> float:
    """Time of one bundle."""
    begun = time.perf_counter()
    make(program, bundle)
    return time.perf_counter() - begun


def main() -> None:
    """Print both times and their ratio, once the bundles are found to hold the same."""
    with tempfile.TemporaryDirectory() as directory:
        program, ours, theirs = (Path(directory) / name for name in ("m.pte", "a.bpte", "b.bpte"))
        add_constant_program([b"", bytes(16), bytes(SIZE)]).save(program)
        runs = [
            (seconds(with_executorch, program, theirs), seconds(with_pteron, program, ours))
            for _ in range(ROUNDS)
        ]
        one, other = pteron.open(ours), pteron.open(theirs)
        assert isinstance(one, pteron.BundledFile) and isinstance(other, pteron.BundledFile)
        assert one.bundle == other.bundle
    slow, fast = (median(run[side] for run in runs) for side in (0, 1))
    print(f"bundle: ExecuTorch {slow:.2f} s  pteron {fast:.2f} s  ratio {slow / fast:.1f}")


if __name__ == "__main__":
    main()
