"""Independent streams from several threads: forks of one module, one thread each.

    python -m benchmarks.streams [--calls 400] [FILE.pte]

By default the model is Silero VAD. Every fork is called from a thread of its own; reported are
calls per second for one, two, ... threads up to one per processor, and each over one thread's.
Outputs of all forks must be equal.
"""

from __future__ import annotations

import argparse
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import pteron
from pteron.bench.inputs import random_inputs
from pteron.runtime import Module


def program(path: Path | None) -> Any:
    if path is not None:
        return path
    from examples.silero_vad.model import build

    model, inputs = build()
    return pteron.lower(model, inputs)


def calls(stream: Module, inputs: dict[str, Any], count: int) -> Any:
    method = stream.method()
    for _ in range(count - 1):
        method(**inputs)
    return method(**inputs)[0]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file", nargs="?", type=Path)
    parser.add_argument("--calls", type=int, default=400)
    options = parser.parse_args()
    module = pteron.load(program(options.file), threads=1)
    inputs = random_inputs(module.method())
    alone = 0.0
    for count in range(1, (os.cpu_count() or 1) + 1):
        streams = [module.fork() for _ in range(count)]
        with ThreadPoolExecutor(count) as pool:
            list(pool.map(lambda stream: calls(stream, inputs, 20), streams))
            start = perf_counter()
            outputs = list(pool.map(lambda stream: calls(stream, inputs, options.calls), streams))
            speed = count * options.calls / (perf_counter() - start)
        if any(not np.array_equal(outputs[0], output) for output in outputs):
            raise SystemExit("streams differ")
        alone = alone or speed
        print(f"{count} threads {speed:10.1f} calls/s, {speed / alone:.2f} of one thread's")


if __name__ == "__main__":
    main()
