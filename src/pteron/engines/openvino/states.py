"""State values of one session, shared by all functions of a payload.

Every compiled function has variables of its own, so a state's value lives in one place at a time:
in the request that ran last (its *holder*), or *parked* here after a write. It is copied only when
another function needs it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.engines.base import ValueInfo
from pteron.engines.openvino._import import ov
from pteron.errors import StateError

Array = NDArray[np.generic]


@dataclass
class _Place:
    """Where a state's value is: in a request, parked, or (neither) nowhere: it is all zeros."""

    info: ValueInfo
    holder: Any = None
    parked: Array | None = None


class SharedStates:
    """The states of a session, by their names in the payload."""

    def __init__(self, infos: Mapping[str, ValueInfo]) -> None:
        self._places = {name: _Place(info) for name, info in infos.items()}

    def move_to(self, request: Any) -> None:
        """Bring every state that the request's function uses into the request."""
        for variable in request.query_state():
            place = self._places[variable.name]
            if place.holder is request:
                continue
            value = self._value(place)
            if value is None:
                variable.reset()
            else:
                variable.state = ov.Tensor(value)
            place.holder, place.parked = request, None

    def read(self, name: str) -> Array:
        place = self._place(name)
        value = self._value(place)
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

    @staticmethod
    def _value(place: _Place) -> Array | None:
        """A copy of the value, ``None`` for zeros."""
        if place.holder is None:
            return None if place.parked is None else place.parked.copy()
        variables = place.holder.query_state()
        held = next(v for v in variables if v.name == place.info.name)
        return np.array(held.state.data, dtype=place.info.dtype)


def _shape(info: ValueInfo) -> tuple[int, ...]:
    return tuple(size or 0 for size in info.shape)
