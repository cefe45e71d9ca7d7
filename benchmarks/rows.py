"""Rows of a benchmark, each measured in a process of its own."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Collection, Mapping, Sequence
from typing import Any


def add_row_options(parser: argparse.ArgumentParser, rows: Collection[str]) -> None:
    """``--rows`` to choose some of them, and ``--row``, which :func:`measured_alone` gives."""
    parser.add_argument("--rows", nargs="+", choices=rows, default=[*rows])
    parser.add_argument("--row", choices=rows, help="measure this row only, here")


def measured_alone(module: str, row: str, arguments: Sequence[str]) -> Any:
    """Run ``python -m module --row ROW ...``; what its last line says, which is JSON."""
    command = [sys.executable, "-m", module, "--row", row, *arguments]
    answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    return json.loads(answer.splitlines()[-1])


def print_speed(row: str, tokens_per_second: float) -> None:
    """One row's answer."""
    print(f"{row:24} {tokens_per_second:8.1f} tokens/s", flush=True)


def print_ratios(speeds: Mapping[str, float]) -> None:
    """The first row's speed over each other's."""
    first, *others = speeds
    for row in others:
        print(f"{first} / {row:24} {speeds[first] / speeds[row]:6.2f}")
