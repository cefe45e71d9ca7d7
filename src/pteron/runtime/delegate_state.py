"""Buffers that a delegate owns: state inside its engine's session."""

from __future__ import annotations

import numpy as np

from pteron.engines.base import Session, ValueInfo
from pteron.runtime.arrays import Array
from pteron.runtime.fitting import fitted
from pteron.runtime.state import first_rows
from pteron.runtime.turns import Turns


class DelegateState:
    """A state that a delegate owns."""

    owner = "delegate"

    def __init__(self, name: str, info: ValueInfo, session: Session, turns: Turns) -> None:
        self.name = name
        self._info = info
        self._session = session
        self._turns = turns

    @property
    def dtype(self) -> np.dtype[np.generic]:
        return np.dtype(self._info.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(size or 0 for size in self._info.shape)

    def read(self) -> Array:
        with self._turns:
            return self._session.read_state(self._info.name)

    def write(self, value: object) -> None:
        fitting = fitted(self, value)
        with self._turns:
            self._session.write_state(self._info.name, fitting)

    def reset(self) -> None:
        with self._turns:
            self._session.reset_state(self._info.name)

    def rollback(self, length: int, axis: int) -> None:
        kept = first_rows(self, length, axis)
        with self._turns:
            value = self.read()
            self.reset()
            rolled_back = np.array(self.read(), order="C")
            rolled_back[kept] = value[kept]
            self._session.write_state(self._info.name, rolled_back)
