"""Running many spoilt models in processes of their own, and what came of them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from tests.fuzz.run import Result

MOST_MEMORY = 512 << 20
_PATIENCE = 600.0
"""Seconds for one run of a worker, which tries :data:`_BATCH` inputs."""
_BATCH = 200


def fuzz_models(directory: Path, first: int, count: int, processes: int = 1) -> Result:
    """Try ``count`` inputs made from the models in ``directory``."""
    ends = range(first + count, first, -_BATCH)
    with ThreadPoolExecutor(processes) as pool:
        runs = pool.map(lambda end: _batch(directory, max(first, end - _BATCH), end), ends)
        result = Result()
        for run in runs:
            result.add(run)
    return result


def _batch(directory: Path, start: int, end: int) -> Result:
    """Inputs from ``start`` on; after one that ends the process, another goes on behind it."""
    result = Result()
    while start < end:
        told, fault = _worker(directory, start, end - start)
        for number, answer in enumerate(told, start):
            _note(number, answer, result)
        start += len(told)
        if fault:
            result.inputs += 1
            result.failures.append((start, fault))
            start += 1
    return result


def _note(number: int, told: dict[str, Any], result: Result) -> None:
    result.inputs += 1
    result.opened += told["compiled"]
    result.slowest = max(result.slowest, told["seconds"])
    result.largest = max(result.largest, told["bytes"])
    if told["failure"]:
        result.failures.append((number, told["failure"]))
    if told["bytes"] > MOST_MEMORY:
        result.failures.append((number, f"took {told['bytes'] >> 20} MB"))


def _worker(directory: Path, start: int, count: int) -> tuple[list[dict[str, Any]], str]:
    """What came of each input, and what ended the process before all were tried."""
    command = [sys.executable, "-m", "tests.fuzz.model_worker", directory, start, count]
    try:
        done = subprocess.run(
            list(map(str, command)), capture_output=True, timeout=_PATIENCE, check=False
        )
        output, fault = done.stdout, _ending(done.returncode, done.stderr.decode())
    except subprocess.TimeoutExpired as expired:
        output, fault = expired.stdout or b"", f"still running after {_PATIENCE:.0f} s"
    lines = output.decode().splitlines(keepends=True)
    return [json.loads(line) for line in lines if line.endswith("\n")], fault


def _ending(code: int, errors: str) -> str:
    if code == 0:
        return ""
    name = signal.Signals(-code).name if code < 0 else f"exit {code}"
    return f"ended by {name}: {errors[-300:]}"
