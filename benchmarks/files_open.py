"""Opening a program of 4 GB beside one of 4 KB.

Run: ``python -m benchmarks.files_open``. Both are opened in turn, many times; medians and ratio.
The large one is a sparse file: its single segment is a hole.
"""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from statistics import median

import pteron
from pteron.files.header import Header, pte_header
from pteron.flatbuf import encode
from pteron.schema.program import IDENTIFIER, DataSegment, Program

ROUNDS = 2000


def write(path: Path, size: int) -> None:
    """A program of ``size`` bytes, all but its tables a hole."""
    program = Program(segments=[DataSegment(0, size - 4096)])
    encoded = encode(program, IDENTIFIER, header_size=32)
    data = b"".join(encoded.pieces)
    header = pte_header(Header(len(data), 4096 if size > 4096 else 0, size - 4096))
    with path.open("wb") as file:
        file.write(data[:8] + header + data[40:])
        file.truncate(size)


def seconds(path: Path) -> float:
    """Time to open and close."""
    begun = time.perf_counter()
    pteron.open(path).close()
    return time.perf_counter() - begun


def main() -> None:
    """Print both times and their ratio."""
    with tempfile.TemporaryDirectory() as directory:
        small, large = Path(directory) / "small.pte", Path(directory) / "large.pte"
        write(small, 4096)
        write(large, 4 << 30)
        runs = [(seconds(large), seconds(small)) for _ in range(ROUNDS)]
    one, other = (median(run[side] for run in runs) * 1e6 for side in (0, 1))
    print(f"open: 4 GB {one:.0f} us  4 KB {other:.0f} us  ratio {one / other:.2f}")


if __name__ == "__main__":
    main()
