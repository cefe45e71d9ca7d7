"""How long work tells what it is doing."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Receives the stages of a lowering, in order.

    ``stage`` opens a named stage and closes the one before; ``advance`` says how far the open
    stage is. Both are called on the thread that lowers.
    """

    def stage(self, name: str) -> None: ...

    def advance(self, done: int, total: int) -> None: ...


class NoProgress:
    """For callers that do not want to know."""

    def stage(self, name: str) -> None:
        pass

    def advance(self, done: int, total: int) -> None:
        pass
