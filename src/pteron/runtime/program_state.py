"""Buffers that the program itself owns, kept in its planned memory."""

from __future__ import annotations

import numpy as np

from pteron.runtime.arrays import Array
from pteron.runtime.fitting import fitted
from pteron.runtime.state import first_rows
from pteron.runtime.turns import Turns


class ProgramState:
    """A state in planned memory."""

    owner = "program"

    def __init__(
        self, name: str, memory: Array, turns: Turns, owner_of_memory: object = None
    ) -> None:
        self.name = name
        self._owner_of_memory = owner_of_memory  # kept alive as long as the state
        self._memory = memory
        self._first = memory.copy()
        self._turns = turns

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
        with self._turns:
            return self._memory.copy()

    def write(self, value: object) -> None:
        fitting = fitted(self, value)
        with self._turns:
            np.copyto(self._memory, fitting)

    def reset(self) -> None:
        with self._turns:
            np.copyto(self._memory, self._first)

    def rollback(self, length: int, axis: int) -> None:
        kept = first_rows(self, length, axis)
        rest = (*kept[:-1], slice(length, None))
        with self._turns:
            np.copyto(self._memory[rest], self._first[rest])
