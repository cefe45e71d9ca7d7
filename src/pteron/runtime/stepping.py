"""Calling a method many times in a row, state kept from call to call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pteron.errors import UsageError
from pteron.progress import steps
from pteron.runtime.arrays import Array
from pteron.runtime.method import Method


def repeat(method: Method, inputs: Mapping[str, Any], times: int) -> tuple[Any, ...]:
    """Call a method ``times`` times with the same inputs; the last call's outputs."""
    if times < 1:
        raise UsageError(f"a method can be called once or more often, not {times} times")
    outputs: tuple[Any, ...] = ()
    for _ in steps("run", range(times)):
        outputs = method(**inputs)
    return outputs


def stream(method: Method, inputs: Mapping[str, Array]) -> list[Array]:
    """Call a method once per entry of the inputs' first axis; outputs stacked in the same way.

    An input ``[n, ...]`` is given as n inputs ``[...]``, in order. Raises UsageError where the
    inputs disagree about n, or there are none.
    """
    lengths = {name: np.shape(array)[:1] for name, array in inputs.items()}
    if len(set(lengths.values())) != 1 or () in lengths.values():
        listed = ", ".join(f"{name}: {length[:1]}" for name, length in lengths.items())
        raise UsageError(f"to stream, all inputs need a first axis of one length; got {listed}")
    (count,) = next(iter(lengths.values()))
    if not count:
        raise UsageError("to stream, the inputs' first axis must not be empty")
    rows = [
        method(**{name: array[step] for name, array in inputs.items()})
        for step in steps("run", range(count))
    ]
    return [np.stack(column) for column in zip(*rows, strict=True)]
