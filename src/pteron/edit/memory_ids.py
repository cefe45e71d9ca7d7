"""Planned memory that methods share, and moving it out of each other's way.

Memory id 1 holds a method's activations. What several methods have under an id from 2 on is one
memory for all of them: there, state lives on from one method's call to another's.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping

from pteron.errors import FormatError
from pteron.schema.program import ExecutionPlan, Tensor

FIRST_SHARED = 2


def planned_tensors(plan: ExecutionPlan) -> Iterator[Tensor]:
    """Every tensor of a method that has a place in planned memory."""
    for value in plan.values:
        if isinstance(value.val, Tensor) and value.val.allocation_info is not None:
            yield value.val


def shared_ids(plans: Iterable[ExecutionPlan]) -> set[int]:
    """Memory ids from 2 on that any of the methods uses.

    Raises FormatError for a tensor in a memory that its method does not have.
    """
    used: set[int] = set()
    for plan in plans:
        used.update(i for i, size in enumerate(plan.non_const_buffer_sizes) if size)
        ids = {memory_id(tensor) for tensor in planned_tensors(plan)}
        if ids and max(ids) >= len(plan.non_const_buffer_sizes):
            raise FormatError(
                f"a tensor lies in memory {max(ids)}, which does not exist",
                where=f"method {plan.name!r}",
            )
        used |= ids
    return {memory for memory in used if memory >= FIRST_SHARED}


def memory_id(tensor: Tensor) -> int:
    """The memory that a planned tensor lies in."""
    assert tensor.allocation_info is not None
    return tensor.allocation_info.memory_id


def move_memory(plan: ExecutionPlan, moved: Mapping[int, int]) -> None:
    """Use other memory ids, old -> new; ids that are not named stay."""
    for tensor in planned_tensors(plan):
        assert tensor.allocation_info is not None
        place = tensor.allocation_info
        place.memory_id = moved.get(place.memory_id, place.memory_id)
    for device in plan.non_const_buffer_device or []:
        device.buffer_idx = moved.get(device.buffer_idx, device.buffer_idx)
    sizes: dict[int, int] = {}
    for memory, size in enumerate(plan.non_const_buffer_sizes):
        target = moved.get(memory, memory)
        sizes[target] = max(size, sizes.get(target, 0))
    plan.non_const_buffer_sizes = [sizes.get(i, 0) for i in range(max(sizes, default=-1) + 1)]


def close_gaps(plans: Iterable[ExecutionPlan], freed: set[int]) -> None:
    """Give up memory ids that no method uses any more: those after them move down."""
    gone = sorted(freed)
    for plan in plans:
        ids = set(range(len(plan.non_const_buffer_sizes))) - freed
        move_memory(plan, {memory: memory - bisect_left(gone, memory) for memory in ids})
