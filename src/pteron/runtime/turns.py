"""Threads and a module: everything takes turns.

- The calls of a module's methods and every access to its state are turns; one at a time.
- What :class:`~pteron.runtime.state.ModuleState` does to several states (``snapshot``, ``restore``,
  ``reset``, ``rollback``) is one turn: a snapshot never has one state from before a call and
  another from after it.
- A module and its forks do not wait for each other, and may run in parallel.
- Nothing says which of two waiting threads comes first. A read, a computation and a write are
  three turns; other threads may come in between.
"""

from __future__ import annotations

from contextlib import AbstractContextManager
from threading import RLock

Turns = AbstractContextManager[object]
"""A module's lock: who holds it has the turn, and may take it again."""


def new_turns() -> Turns:
    """The turns of a new stream."""
    return RLock()
