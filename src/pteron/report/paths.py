"""Where in the model's source each instruction comes from, as far as the file says it."""

from __future__ import annotations

from collections.abc import Iterator

from pteron.schema.program import ExecutionPlan, Frame

Frames = tuple[tuple[str, str], ...]
"""Per frame, outermost first: ``forward (model.py)``, and where exactly with the source text."""

_MOST = 64
"""Frames of one stack that are kept."""


def paths(plan: ExecutionPlan) -> tuple[list[Frames], list[int]]:
    """Every stack once, and for each instruction the number of its stack, -1 where it has none."""
    numbers: dict[Frames, int] = {}
    found = [numbers.setdefault(stack, len(numbers)) if stack else -1 for stack in _stacks(plan)]
    return list(numbers), found


def _stacks(plan: ExecutionPlan) -> Iterator[Frames]:
    for chain in plan.chains:
        stacks = chain.stacktrace or []
        for index in range(len(chain.instructions)):
            items = stacks[index].items if index < len(stacks) else []
            yield tuple(_frame(frame) for frame in items[:_MOST])


def _frame(frame: Frame) -> tuple[str, str]:
    file = frame.filename.replace("\\", "/").rpartition("/")[2]
    return f"{frame.name} ({file})", f"{frame.filename}:{frame.lineno}  {frame.context}".rstrip()
