"""Rows of a benchmark, each measured in a process of its own."""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Callable, Collection, Mapping, Sequence
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


def best_of_turns(
    module: str, options: argparse.Namespace, sizes: Sequence[str], speed: Callable[[Any], float]
) -> dict[str, float]:
    """Tokens per second of each row: the best of some turns, in each of which all rows run.

    How fast a shared machine is changes within minutes, and not for all kernels alike; in turns
    every row meets its better and its worse times.
    """
    speeds: dict[str, list[float]] = {row: [] for row in options.rows}
    for _ in range(options.turns):
        for row, known in speeds.items():
            known.append(speed(measured_alone(module, row, sizes)))
    for row, known in speeds.items():
        turns = ", ".join(f"{value:.1f}" for value in known)
        print(f"{row:24} {max(known):8.1f} tokens/s   turns: {turns}", flush=True)
    return {row: max(known) for row, known in speeds.items()}


def print_ratios(speeds: Mapping[str, float]) -> None:
    """The first row's speed over each other's."""
    first, *others = speeds
    for row in others:
        print(f"{first} / {row:24} {speeds[first] / speeds[row]:6.2f}")
