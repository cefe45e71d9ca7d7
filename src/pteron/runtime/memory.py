"""Planned memory: the arenas of a program and the tensors that lie in them.

Memory ids and offsets are those of ``AllocationDetails`` (program.fbs). Id 1 is scratch, one arena
per method. Ids from 2 on are one arena for all methods of a program, so that state which several
methods use at the same place has one value.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import prod
from typing import Any

import numpy as np

from pteron.dtypes import to_numpy
from pteron.errors import FormatError
from pteron.runtime.arrays import Array
from pteron.schema.program import ExecutionPlan, Tensor

SCRATCH = 1
ALIGNMENT = 64


class SharedArenas:
    """Arenas with memory ids from 2 on, as large as the neediest method wants them."""

    def __init__(self, plans: Iterable[ExecutionPlan]) -> None:
        sizes: list[int] = []
        for plan in plans:
            for memory_id, size in enumerate(plan.non_const_buffer_sizes):
                sizes.extend([0] * (memory_id + 1 - len(sizes)))
                sizes[memory_id] = max(sizes[memory_id], size)
        self.arenas = [
            _arena(size) if memory_id > SCRATCH else None for memory_id, size in enumerate(sizes)
        ]


class PlannedMemory:
    """The arenas that one method of one stream sees."""

    def __init__(self, plan: ExecutionPlan, shared: SharedArenas) -> None:
        self._arenas = list(shared.arenas)
        if len(plan.non_const_buffer_sizes) > SCRATCH:
            self._arenas[SCRATCH] = _arena(plan.non_const_buffer_sizes[SCRATCH])

    def view(self, tensor: Tensor, sizes: Sequence[int] | None = None) -> Array:
        """The tensor's place as an array, in its dim order; ``sizes`` for a smaller dynamic one."""
        sizes = tensor.sizes if sizes is None else sizes
        dtype = to_numpy(tensor.scalar_type)
        flat = self._bytes(tensor, prod(sizes) * dtype.itemsize).view(dtype)
        return in_dim_order(flat, sizes, tensor.dim_order)

    def _bytes(self, tensor: Tensor, size: int) -> Array:
        place = tensor.allocation_info
        if place is None:
            raise FormatError("a tensor without allocation_info has no planned memory")
        offset = place.memory_offset_low + (place.memory_offset_high << 32)
        known = place.memory_id < len(self._arenas)
        arena = self._arenas[place.memory_id] if known else None
        if arena is None or offset + size > len(arena):
            have = "does not exist" if arena is None else f"has {len(arena)}"
            raise FormatError(
                f"offset {offset} + size {size} lies outside memory {place.memory_id}, which {have}"
            )
        return arena[offset : offset + size]


def in_dim_order(flat: Array, sizes: Sequence[int], dim_order: Sequence[int]) -> Array:
    """A flat array of elements as a tensor whose dims lie in memory outermost first."""
    order = list(dim_order) or list(range(len(sizes)))
    if sorted(order) != list(range(len(sizes))):
        raise FormatError(f"dim order {order} does not fit {len(sizes)} dims")
    return flat.reshape([sizes[d] for d in order]).transpose(np.argsort(order))


def _arena(size: int) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """Zeroed bytes at an address that suits vector instructions."""
    raw = np.zeros(size + ALIGNMENT, np.uint8)
    start = -raw.ctypes.data % ALIGNMENT
    return raw[start : start + size]
