"""Memory plans: bounds of planned buffers, and tensors that share memory while both are in use."""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass

from pteron.errors import UnsupportedError
from pteron.files.check.finding import Finding, error, warning
from pteron.files.check.lifetimes import lifetimes
from pteron.files.program_file import PTEFile
from pteron.files.tensors import byte_size
from pteron.schema.program import AllocationDetails, ExecutionPlan, Tensor, TensorShapeDynamism


def check_memory(file: PTEFile) -> Iterator[Finding]:
    """The memory plan of every method."""
    for number, plan in enumerate(file.program.execution_plan):
        where = f"execution_plan[{number}]"
        yield from _check_sizes(plan, where)
        placed = []
        for index, value in enumerate(plan.values):
            if isinstance(value.val, Tensor) and value.val.allocation_info is not None:
                found = _outside(value.val, value.val.allocation_info, plan)
                if found:
                    yield error(f"{where}.values[{index}].val.allocation_info", found)
                else:
                    placed.append(_place(index, value.val, value.val.allocation_info))
        yield from _check_overlaps(plan, placed, where)


@dataclass(frozen=True, order=True)
class _Place:
    start: int
    end: int
    memory: int
    index: int


def _place(index: int, tensor: Tensor, allocation: AllocationDetails) -> _Place:
    start = allocation.memory_offset
    return _Place(start, start + byte_size(tensor), allocation.memory_id, index)


def _check_sizes(plan: ExecutionPlan, where: str) -> Iterator[Finding]:
    for index, size in enumerate(plan.non_const_buffer_sizes):
        if size < 0:
            yield error(f"{where}.non_const_buffer_sizes[{index}]", f"is negative ({size})")


def _outside(tensor: Tensor, allocation: AllocationDetails, plan: ExecutionPlan) -> str:
    """What is wrong with a tensor's place in its buffer, or an empty string."""
    sizes, memory = plan.non_const_buffer_sizes, allocation.memory_id
    if not 0 < memory < len(sizes):
        return f"planned buffer {memory} of {len(sizes)} (0 is reserved)"
    try:
        size = byte_size(tensor)
    except UnsupportedError as failure:
        return str(failure)
    if tensor.shape_dynamism == TensorShapeDynamism.DYNAMIC_UNBOUND:
        return ""
    end = allocation.memory_offset + size
    if size < 0 or end > sizes[memory]:
        return f"ends at {end}, past planned buffer {memory} ({sizes[memory]} bytes)"
    return ""


def _check_overlaps(plan: ExecutionPlan, placed: list[_Place], where: str) -> Iterator[Finding]:
    """Walk through the method, keeping the tensors in use sorted by place."""
    lives = lifetimes(plan, {place.index: (place.memory, place.start) for place in placed})
    begins: dict[int, list[_Place]] = defaultdict(list)
    ends: dict[int, list[_Place]] = defaultdict(list)
    for place in placed:
        if place.index in lives and place.end > place.start:
            first, last = lives[place.index]
            begins[first].append(place)
            ends[last].append(place)
    in_use: dict[int, list[_Place]] = defaultdict(list)
    for step in sorted({*begins, *ends}):
        for place in begins[step]:
            other = _put_in_use(in_use[place.memory], place)
            if other is not None:
                judge = warning if lives[other.index][1] == step else error
                yield judge(
                    f"{where}.values[{place.index}].val.allocation_info",
                    f"bytes {place.start} to {place.end} of planned buffer {place.memory} are"
                    f" written by instruction {step} while value {other.index} is in use there",
                )
        for place in ends[step]:
            _remove(in_use[place.memory], place)


def _put_in_use(in_use: list[_Place], place: _Place) -> _Place | None:
    """Add ``place``, or return one in use that shares bytes with it."""
    at = bisect_left(in_use, place)
    for neighbour in in_use[max(at - 1, 0) : at + 1]:
        if neighbour.start < place.end and place.start < neighbour.end:
            return neighbour
    in_use.insert(at, place)
    return None


def _remove(in_use: list[_Place], place: _Place) -> None:
    at = bisect_left(in_use, place)
    if at < len(in_use) and in_use[at] == place:
        del in_use[at]
