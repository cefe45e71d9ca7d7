"""The planned memory of a method: which tensor lies where, from when to when, and the peak."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from pteron.errors import UnsupportedError
from pteron.files.check.lifetimes import lifetimes
from pteron.files.tensors import byte_size
from pteron.schema.program import ExecutionPlan, Tensor

_BUDGET = 5_000_000
"""Tensors in use, added up over the instructions; real programs stay far below."""


@dataclass(frozen=True)
class Box:
    """A tensor in planned memory.

    Attributes:
        value: index into the plan's values.
        memory: planned buffer.
        offset, size: bytes in it; the upper bound where the shape is dynamic.
        first, last: instructions between which the memory is its own, both included.
    """

    value: int
    memory: int
    offset: int
    size: int
    first: int
    last: int


def memory(plan: ExecutionPlan) -> dict[str, Any]:
    """Planned buffers with the tensors in them, and how many bytes are in use at each step.

    ``boxes`` are [value, offset, bytes, first, last]; ``in_use`` has one number per instruction;
    ``peak`` is the first instruction with the most.
    """
    steps = sum(len(chain.instructions) for chain in plan.chains)
    found = list(boxes(plan, steps))
    described = []
    for index, size in enumerate(plan.non_const_buffer_sizes):
        inside = [box for box in found if box.memory == index]
        if index or inside:
            described.append(_buffer(index, size, inside, steps))
    return {"steps": steps, "buffers": described}


def _buffer(index: int, size: int, inside: Sequence[Box], steps: int) -> dict[str, Any]:
    in_use = _in_use(inside, steps)
    most = max(in_use, default=0)
    return {
        "id": index,
        "bytes": size,
        "boxes": [[b.value, b.offset, b.size, b.first, b.last] for b in inside],
        "in_use": in_use,
        "most": most,
        "peak": in_use.index(most) if in_use else -1,
    }


def boxes(plan: ExecutionPlan, steps: int) -> Iterator[Box]:
    """Every tensor that owns planned memory for a while; views of others own none."""
    sizes = dict(_sizes(plan))
    places = {index: _place(plan.values[index].val) for index in sizes}
    for index, (first, last) in lifetimes(plan, places).items():
        memory_id, offset = places[index]
        span = max(first, 0), min(last, max(steps - 1, 0))
        yield Box(index, memory_id, offset, sizes[index], *span)


def _sizes(plan: ExecutionPlan) -> Iterator[tuple[int, int]]:
    """Value index and bytes of planned tensors; ``check`` tells of those that have no size."""
    for index, value in enumerate(plan.values):
        if isinstance(value.val, Tensor) and value.val.allocation_info is not None:
            try:
                size = byte_size(value.val)
            except UnsupportedError:
                continue
            if size >= 0:
                yield index, size


def _place(tensor: Any) -> tuple[int, int]:
    return tensor.allocation_info.memory_id, tensor.allocation_info.memory_offset


def _in_use(inside: Sequence[Box], steps: int) -> list[int]:
    """Bytes in use at each step; those that two tensors share (one made in the other's place) once.

    Raises UnsupportedError for an absurd number of tensors in use at once.
    """
    begins: dict[int, list[Box]] = defaultdict(list)
    for box in inside:
        begins[box.first].append(box)
    alive: list[Box] = []
    found: list[int] = []
    spent = 0
    for step in range(steps):
        alive = [box for box in alive if box.last >= step] + begins[step]
        spent += len(alive)
        if spent > _BUDGET:
            raise UnsupportedError("too many tensors are in use at once to draw")
        found.append(_covered(alive))
    return found


def _covered(boxes: Sequence[Box]) -> int:
    """Bytes that lie in any of the boxes."""
    covered, end = 0, 0
    for box in sorted(boxes, key=lambda box: box.offset):
        covered += max(0, box.offset + box.size - max(end, box.offset))
        end = max(end, box.offset + box.size)
    return covered
