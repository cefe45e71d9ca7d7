"""Greedy decoding of a SmolLM2-135M, beside the runtimes there are for it.

    python -m benchmarks.decode [--tokens 32] [--threads 2] [--cache 1024] [--start P]
                               [--turns 3] [--rows ...]

Random weights of that shape, batch 1, one token per call, a cache of 1024 positions, decoded from
``--start`` on; by default to its last one, so that attention is over all of it. Every row is a
process of its own and names its precision. Rows that say ``flexible`` run a program for any number
of tokens, as the example's is, the others one for one token. Reported is the best of some turns
through all rows. ``limit`` is what the machine would do if it only read the 16-bit weights: their
bytes over the measured streaming read bandwidth. Programs are lowered once and kept in
``build/benchmarks``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable
from functools import partial
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.rows import add_row_options, best_of_turns, print_ratios

Step = Callable[[int, int], int]
"""Takes a token and its position, gives the next token."""
KEPT = Path("build/benchmarks")
WARMUP = 4


def model(cache: int, half: bool) -> Any:
    """The module, and inputs of one token."""
    import torch

    module, _, _ = random_model(cache, half)
    return module, (torch.zeros(1, 1, dtype=torch.int64), torch.zeros(1, dtype=torch.int64))


def random_model(cache: int, half: bool) -> Any:
    """The module, and inputs and options to lower it for any number of tokens."""
    import torch

    from examples.smollm2.model import Config, build_random

    dtype = torch.float16 if half else torch.float32
    return build_random(Config(cache=cache, cache_dtype=dtype))


def core_ml_program(cache: int, flexible: bool = False) -> Path:
    """A program for one token per call, or for any number."""
    path = KEPT / f"smollm2-{cache}{'-flexible' if flexible else ''}.pte"
    if not path.exists():
        import pteron

        KEPT.mkdir(parents=True, exist_ok=True)
        if flexible:
            module, inputs, options = random_model(cache, half=True)
            pteron.lower(module, inputs, **options).save(path)
        else:
            pteron.lower(*model(cache, half=True)).save(path)
    return path


def xnnpack_program(name: str, make: Callable[[], tuple[Any, Any]]) -> Path:
    """What ExecuTorch makes of a model and its inputs, made unless it is kept under the name."""
    path = KEPT / f"{name}-xnnpack.pte"
    if not path.exists():
        import torch
        from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
        from executorch.exir import to_edge_transform_and_lower

        from benchmarks.plain_decoder import Buffered

        module, inputs = make()
        exported = torch.export.export(Buffered(module).eval(), inputs)
        lowered = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
        KEPT.mkdir(parents=True, exist_ok=True)
        with path.open("wb") as file:
            lowered.to_executorch().write_to_file(file)
    return path


def pteron_step(precision: str, flexible: bool, cache: int, threads: int) -> Step:
    import pteron

    module = pteron.load(core_ml_program(cache, flexible), precision=precision, threads=threads)

    def step(token: int, position: int) -> int:
        (logits,) = module.forward(np.array([[token]]), np.array([position]))
        return int(logits.argmax())

    return step


def xnnpack_step(cache: int, threads: int) -> Step:
    import torch
    from executorch.runtime import Runtime

    # ExecuTorch's Python runtime has no setting for threads; it takes one per processor.
    path = xnnpack_program(f"smollm2-{cache}", partial(model, cache, half=False))
    program = Runtime.get().load_program(path)
    method = program.load_method("forward")

    def step(token: int, position: int) -> int:
        (logits,) = method.execute([torch.tensor([[token]]), torch.tensor([position])])
        return int(logits.argmax())

    return step


def eager_step(cache: int, threads: int) -> Step:
    import torch

    torch.set_num_threads(threads)
    module, _ = model(cache, half=False)

    def step(token: int, position: int) -> int:
        with torch.no_grad():
            return int(module(torch.tensor([[token]]), torch.tensor([position])).argmax())

    return step


def openvino_step(hint: str, cache: int, threads: int) -> Step:
    request = openvino_request(hint, 1, cache, threads)

    def step(token: int, position: int) -> int:
        outputs = request.infer([np.array([[token]]), np.array([position])])
        return int(outputs[0].argmax())

    return step


def openvino_request(hint: str, tokens: int, cache: int, threads: int) -> Any:
    """The module as OpenVINO's own converter takes it, its caches made OpenVINO's states."""
    from benchmarks.plain_decoder import with_openvinos_states
    from pteron.engines.openvino._import import ov

    options = {"INFERENCE_PRECISION_HINT": hint, "PERFORMANCE_HINT": "LATENCY"}
    options |= {"INFERENCE_NUM_THREADS": threads}
    converted = with_openvinos_states(model(cache, half=False)[0], tokens)
    return ov.Core().compile_model(converted, "CPU", options).create_infer_request()


ROWS: dict[str, Callable[[int, int], Step]] = {
    "pteron-fast": partial(pteron_step, "fast", False),
    "pteron-fast-flexible": partial(pteron_step, "fast", True),
    "pteron-model": partial(pteron_step, "model", False),
    "pteron-model-flexible": partial(pteron_step, "model", True),
    "executorch-xnnpack-f32": xnnpack_step,
    "pytorch-eager-f32": eager_step,
    "openvino-f32": partial(openvino_step, "f32"),
    "openvino-f16": partial(openvino_step, "f16"),
    "openvino-bf16": partial(openvino_step, "bf16"),
}


def measure(row: str, tokens: int, cache: int, threads: int, start: int | None) -> None:
    """Decode in this process and print the figures as JSON."""
    if row == "limit":
        print(json.dumps({"tokens_per_second": memory_limit(cache, threads)}))
        return
    step = ROWS[row](cache, threads)
    token, seconds = 1, []
    first = cache - tokens - WARMUP if start is None else start
    for position in range(first, first + WARMUP + tokens):
        began = perf_counter()
        token = step(token, position)
        seconds.append(perf_counter() - began)
    taken = seconds[WARMUP:]
    figures = {"tokens_per_second": 1 / median(taken), "fastest": 1 / min(taken), "token": token}
    print(json.dumps(figures))


def memory_limit(cache: int, threads: int) -> float:
    """Tokens per second if reading the stored weights were all there is to do."""
    import pteron
    from pteron.bench.bandwidth import read_bandwidth

    with pteron.load(core_ml_program(cache), threads=threads) as module:
        (compilation,) = module.method().compilations
    return read_bandwidth(threads) / compilation.weight_bytes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--tokens", type=int, default=32)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--cache", type=int, default=1024)
    parser.add_argument("--start", type=int, help="first position (by default near the end)")
    parser.add_argument("--turns", type=int, default=3)
    add_row_options(parser, [*ROWS, "limit"])
    options = parser.parse_args()
    if options.row:
        measure(options.row, options.tokens, options.cache, options.threads, options.start)
        return
    sizes = [f"--{name}={getattr(options, name)}" for name in ("tokens", "threads", "cache")]
    sizes += [] if options.start is None else [f"--start={options.start}"]
    print_ratios(
        best_of_turns("benchmarks.decode", options, sizes, lambda a: float(a["tokens_per_second"]))
    )


if __name__ == "__main__":
    main()
