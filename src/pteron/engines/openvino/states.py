"""State values of one session, shared by all functions of a payload.

Every compiled function keeps a state in its own way (see :mod:`.state_slots`), so a state's value
lives in one place at a time: in the slot that was used last (its *holder*), or *parked* here after
a write. It is copied only when a function with another slot needs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pteron.engines.base import ValueInfo
from pteron.engines.openvino.state_slots import Array, Slot
from pteron.errors import StateError


@dataclass
class _Place:
    """Where a state's value is: in a slot, parked, or (neither) nowhere: it is all zeros."""

    info: ValueInfo
    holder: Slot | None = None
    parked: Array | None = None

    def value(self) -> Array | None:
        """A copy of the value, ``None`` for zeros."""
        if self.holder is not None:
            return self.holder.read().astype(self.info.dtype, copy=False)
        return None if self.parked is None else self.parked.copy()


class SharedStates:
    """The states of a session, by their names in the payload."""

    def __init__(self, infos: Mapping[str, ValueInfo]) -> None:
        self._places = {name: _Place(info) for name, info in infos.items()}

    def move_to(self, slots: Mapping[str, Slot]) -> None:
        """Bring the states of a function into its slots."""
        for name, slot in slots.items():
            place = self._places[name]
            if place.holder is not slot:
                slot.write(place.value())
                place.holder, place.parked = slot, None

    def read(self, name: str) -> Array:
        place = self._place(name)
        value = place.value()
        return np.zeros(_shape(place.info), place.info.dtype) if value is None else value

    def write(self, name: str, value: Array) -> None:
        place = self._place(name)
        if value.dtype != place.info.dtype or value.shape != _shape(place.info):
            raise StateError(
                f"state '{name}' is {place.info.dtype}{list(place.info.shape)}, "
                f"not {value.dtype}{list(value.shape)}"
            )
        place.holder, place.parked = None, np.array(value, order="C")

    def reset(self, name: str) -> None:
        place = self._place(name)
        place.holder = place.parked = None

    def _place(self, name: str) -> _Place:
        if name not in self._places:
            known = ", ".join(self._places) or "none"
            raise StateError(f"there is no state '{name}'; the payload has: {known}")
        return self._places[name]


def _shape(info: ValueInfo) -> tuple[int, ...]:
    return tuple(size or 0 for size in info.shape)
