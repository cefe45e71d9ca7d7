"""Independent streams from several threads: forks of one module, one thread each.

    python -m benchmarks.streams [--calls 400] [--precision model] [--turns 3] [FILE.pte]

By default the model is Silero VAD. For one, two, ... threads up to one per processor, the model is
loaded with as many streams of one thread, and as many forks are called at once, each from a thread
of its own. Reported are calls per second, and each over one thread's. Outputs must be equal.
"""

from __future__ import annotations

import argparse
import os
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

import pteron
from pteron.bench.inputs import random_inputs
from pteron.bench.throughput import call_at_once
from pteron.runtime import Module

WARM_UP = 5


def program(path: Path | None) -> Any:
    if path is not None:
        return path
    from examples.silero_vad.model import build

    model, inputs = build()
    return pteron.lower(model, inputs)


def speed(module: Module, inputs: dict[str, Any], count: int, repeat: int) -> float:
    """Calls per second of so many forks at once. Ends the process unless all give the same."""
    method = module.method().name
    found, outputs = call_at_once(module, method, inputs, count, WARM_UP, repeat)
    if any(not np.array_equal(outputs[0][0], first) for first, *_ in outputs):
        raise SystemExit("streams differ")
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--calls", type=int, default=400)
    parser.add_argument("--precision", default="model")
    parser.add_argument("--turns", type=int, default=3)
    options = parser.parse_args()
    made = program(options.file)
    counts = range(1, (os.cpu_count() or 1) + 1)
    load = partial(pteron.load, made, precision=options.precision, threads=1)
    modules = {count: load(streams=count) for count in counts}
    inputs = random_inputs(modules[1].method())
    for turn in range(1, options.turns + 1):
        speeds = {n: speed(module, inputs, n, options.calls) for n, module in modules.items()}
        for count, found in speeds.items():
            told = f"{found:10.1f} calls/s, {found / speeds[1]:.2f} of one thread's"
            print(f"turn {turn}: {count} threads {told}", flush=True)


if __name__ == "__main__":
    main()
