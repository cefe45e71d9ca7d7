"""A prompt of 256 tokens into SmolLM2-135M's caches, beside the runtimes there are for it.

    python -m benchmarks.prefill [--tokens 256] [--threads 2] [--rounds 5] [--turns 3] [--rows ...]

Random weights of that shape, one call for the whole prompt, caches of 1024 positions. Every row is
a process of its own and names its precision; reported is the best of some rounds, and of some
turns through all rows. Programs are lowered once and kept in ``build/benchmarks``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.decode import KEPT, model, openvino_request, xnnpack_program
from benchmarks.rows import add_row_options, best_of_turns, print_ratios

CACHE = 1024


def inputs(tokens: int) -> tuple[Any, Any]:
    import torch

    return torch.arange(tokens).view(1, -1), torch.zeros(1, dtype=torch.int64)


def core_ml_program(tokens: int) -> Path:
    path = KEPT / f"smollm2-prefill-{tokens}.pte"
    if not path.exists():
        import pteron

        KEPT.mkdir(parents=True, exist_ok=True)
        pteron.lower(model(CACHE, half=True)[0], inputs(tokens)).save(path)
    return path


def pteron_call(precision: str, tokens: int, threads: int) -> Callable[[], Any]:
    import pteron

    module = pteron.load(core_ml_program(tokens), precision=precision, threads=threads)
    prompt, start = (value.numpy() for value in inputs(tokens))
    return lambda: module.forward(prompt, start)


def xnnpack_call(tokens: int, threads: int) -> Callable[[], Any]:
    from executorch.runtime import Runtime

    path = xnnpack_program(
        f"smollm2-prefill-{tokens}", lambda: (model(CACHE, half=False)[0], inputs(tokens))
    )
    program = Runtime.get().load_program(path)
    method = program.load_method("forward")
    return lambda: (program, method.execute(list(inputs(tokens))))


def eager_call(tokens: int, threads: int) -> Callable[[], Any]:
    import torch

    torch.set_num_threads(threads)
    module, _ = model(CACHE, half=False)

    def call() -> Any:
        with torch.no_grad():
            return module(*inputs(tokens))

    return call


def openvino_call(hint: str, tokens: int, threads: int) -> Callable[[], Any]:
    request = openvino_request(hint, tokens, CACHE, threads)
    prompt, start = (value.numpy() for value in inputs(tokens))
    return lambda: request.infer([prompt, start])


ROWS: dict[str, Callable[[int, int], Callable[[], Any]]] = {
    "pteron-fast": partial(pteron_call, "fast"),
    "pteron-model": partial(pteron_call, "model"),
    "executorch-xnnpack-f32": xnnpack_call,
    "pytorch-eager-f32": eager_call,
    "openvino-f32": partial(openvino_call, "f32"),
    "openvino-f16": partial(openvino_call, "f16"),
    "openvino-bf16": partial(openvino_call, "bf16"),
}


def measure(row: str, tokens: int, threads: int, rounds: int) -> None:
    call = ROWS[row](tokens, threads)
    call()
    seconds = []
    for _ in range(rounds):
        start = perf_counter()
        call()
        seconds.append(perf_counter() - start)
    print(json.dumps({"seconds": float(np.min(seconds))}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, default in (("tokens", 256), ("threads", 2), ("rounds", 5), ("turns", 3)):
        parser.add_argument(f"--{name}", type=int, default=default)
    add_row_options(parser, ROWS)
    options = parser.parse_args()
    if options.row:
        measure(options.row, options.tokens, options.threads, options.rounds)
        return
    sizes = [f"--{name}={getattr(options, name)}" for name in ("tokens", "threads", "rounds")]
    print_ratios(
        best_of_turns(
            "benchmarks.prefill", options, sizes, lambda a: options.tokens / float(a["seconds"])
        )
    )


if __name__ == "__main__":
    main()
