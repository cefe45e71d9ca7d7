"""Buffers that the program itself owns: found in its plan, kept in its planned memory."""

from __future__ import annotations

from collections.abc import Iterator
from threading import Lock

import numpy as np

from pteron.runtime.arrays import Array
from pteron.runtime.operators import operator_names
from pteron.runtime.state import fitted
from pteron.schema.program import ExecutionPlan, KernelCall, Tensor


def state_values(plan: ExecutionPlan) -> Iterator[tuple[int, str | None]]:
    """(value index, name or None) of every mutable buffer of a method.

    A buffer is a tensor in planned memory, not an input, that has a first value in the file, or is
    overwritten in place (an operator such as ``aten::copy_`` or ``aten::index_put_`` whose first
    argument it is) without having been the out of another operator before.
    """
    written_in_place = _written_in_place(plan)
    inputs = set(plan.inputs)
    for index, value in enumerate(plan.values):
        tensor = value.val
        if not isinstance(tensor, Tensor) or tensor.allocation_info is None or index in inputs:
            continue
        if tensor.data_buffer_idx > 0 or index in written_in_place:
            extra = tensor.extra_tensor_info
            yield index, (extra.fully_qualified_name or None) if extra is not None else None


def _written_in_place(plan: ExecutionPlan) -> set[int]:
    names = operator_names(plan)
    in_place: set[int] = set()
    out: set[int] = set()
    for chain in plan.chains:
        for instruction in chain.instructions:
            call = instruction.instr_args
            if not isinstance(call, KernelCall):
                continue
            if names[call.op_index].partition(".")[0].endswith("_"):
                in_place.update(set(call.args[:1]) - out)
            else:
                out.add(call.args[-1])
    return in_place


class ProgramState:
    """A state in planned memory."""

    owner = "program"

    def __init__(self, name: str, memory: Array, lock: Lock) -> None:
        self.name = name
        self._memory = memory
        self._first = memory.copy()
        self._lock = lock

    @property
    def dtype(self) -> np.dtype[np.generic]:
        return self._memory.dtype

    @property
    def shape(self) -> tuple[int, ...]:
        return self._memory.shape

    @property
    def address(self) -> int:
        """Where the bytes are: equal for methods that share the state."""
        return int(self._memory.ctypes.data)

    def read(self) -> Array:
        with self._lock:
            return self._memory.copy()

    def write(self, value: object) -> None:
        fitting = fitted(self, value)
        with self._lock:
            np.copyto(self._memory, fitting)

    def reset(self) -> None:
        with self._lock:
            np.copyto(self._memory, self._first)
