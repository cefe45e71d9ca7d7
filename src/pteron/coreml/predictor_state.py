"""The state that ``MLModel.make_state`` hands out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

from numpy.typing import NDArray

from pteron.engines.base import Session, ValueInfo
from pteron.errors import StateError
from pteron.runtime.delegate_state import DelegateState
from pteron.runtime.turns import new_turns
from pteron.suggestions import listed, meant


class PredictorState:
    """The values of a model's states, for that model alone: Core ML, too, ties them to it.

    Attributes:
        maker: the predictor that made it.
    """

    def __init__(self, maker: object, session: Session, states: Iterable[ValueInfo]) -> None:
        self.maker = maker
        self._session = session
        self._turns = new_turns()
        self._entries = {s.name: DelegateState(s.name, s, session, self._turns) for s in states}

    def read_state(self, name: str) -> NDArray[Any]:
        """A copy of a state's value. Raises StateError if there is no such state."""
        return self._entry(name).read()

    def write_state(self, name: str, value: object) -> None:
        """Set a state's value; floats are rounded to the state's dtype.

        Raises StateError for an unknown name, where shape or kind differ, or a number is too large.
        """
        self._entry(name).write(value)

    def run(self, function: str, inputs: Sequence[NDArray[Any]]) -> list[NDArray[Any]]:
        """Call a function with these states, which it may change."""
        with self._turns:
            return self._session.run(function, inputs)

    def _entry(self, name: str) -> DelegateState:
        if name not in self._entries:
            known = f"{meant(name, self._entries)}; the model's states: {listed(self._entries)}"
            raise StateError(f"no state '{name}'{known}")
        return self._entries[name]
