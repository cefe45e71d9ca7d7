"""What state costs in a decode step: owned by the delegate, or passed in and out of it.

    python -m benchmarks.state_cost [--layers 4] [--steps 200] [--lengths 512 2048 8192]

The model is SmolLM2's attention (9 heads on 3 key heads of 64, two fp16 caches per layer) with
next to no MLP and vocabulary. ``delegate``: the caches are the delegate's state. ``program``: the
same model lowered with ``take_over_mutable_buffers=False``, so that the caches are inputs and
outputs of the delegate and the program keeps them. Steps of both are timed in turns; reported are
medians of one step, and what handling the delegate's state takes beside it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from statistics import median
from time import perf_counter
from typing import Any

import numpy as np
import torch

import pteron
from examples.smollm2.model import Config, build_random
from pteron.runtime import Module

TURN = 10
"""Steps of one side before it is the other's turn."""
OWNERS = {"delegate": True, "program": False}


def loaded(layers: int, length: int, owner: str) -> Module:
    """The model with caches of this length, one token per call."""
    config = Config(layers=layers, hidden=64, vocabulary=256, cache=length)
    model, _, _ = build_random(config)
    inputs = (torch.zeros(1, 1, dtype=torch.int64), torch.zeros(1, dtype=torch.int64))
    file = pteron.lower(
        model,
        inputs,
        backend=pteron.CoreML(compute_precision="float32"),
        take_over_mutable_buffers=OWNERS[owner],
    )
    module = pteron.load(file, cache=None)
    owners = {entry.owner for entry in module.state.values()}
    if owners != {owner}:
        raise SystemExit(f"the caches' owners are {owners}, not {owner}")
    return module


def step(module: Module, position: int) -> float:
    """Seconds of one step at a position."""
    token, at = np.array([[position % 256]]), np.array([position])
    started = perf_counter()
    module.forward(token, at)
    return perf_counter() - started


def steps(modules: dict[str, Module], length: int, count: int) -> dict[str, float]:
    """Median milliseconds of one step of every module, measured in turns."""
    times: dict[str, list[float]] = {owner: [] for owner in modules}
    for begin in range(0, count + TURN, TURN):
        for owner, module in modules.items():
            for position in range(begin, begin + TURN):
                times[owner].append(step(module, position % length))
    return {owner: 1e3 * median(all_of[TURN:]) for owner, all_of in times.items()}


def handling(module: Module, length: int) -> dict[str, float]:
    """Median milliseconds of what a user does with the state; each is followed by a step."""
    snapshot = module.state.snapshot()
    actions: dict[str, Callable[[], Any]] = {
        "snapshot": module.state.snapshot,
        "restore": lambda: module.state.restore(snapshot),
        "rollback": lambda: module.state.rollback(length // 2, "*_cache", axis=2),
    }
    return {name: 1e3 * median(timed(module, action)) for name, action in actions.items()}


def timed(module: Module, action: Callable[[], Any]) -> list[float]:
    times = []
    for position in range(10):
        started = perf_counter()
        action()
        times.append(perf_counter() - started)
        step(module, position)
    return times


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=4)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument("--lengths", type=int, nargs="+", default=[512, 2048, 8192])
    options = parser.parse_args()
    print("length  delegate ms  program ms  program/delegate  snapshot ms  restore ms  rollback ms")
    for length in options.lengths:
        modules = {owner: loaded(options.layers, length, owner) for owner in OWNERS}
        took = steps(modules, length, options.steps)
        user = handling(modules["delegate"], length)
        print(
            f"{length:6}  {took['delegate']:11.3f}  {took['program']:10.3f}  "
            f"{took['program'] / took['delegate']:16.2f}  {user['snapshot']:11.2f}  "
            f"{user['restore']:10.2f}  {user['rollback']:11.2f}",
            flush=True,
        )


if __name__ == "__main__":
    main()
