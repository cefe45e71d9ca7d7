"""State in the user's hands: read, write, reset, roll back, snapshot, restore, save and load.

Keys are ``named_buffers()`` names, whoever owns the buffer. A module is one stream: its state
belongs to it alone, and :meth:`pteron.runtime.Module.fork` makes an independent one.

Threads take turns: :mod:`pteron.runtime.turns`.
"""

from __future__ import annotations

import operator
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Protocol

import numpy as np

from pteron.errors import StateError
from pteron.runtime.arrays import Array
from pteron.runtime.fitting import fitted
from pteron.runtime.identity import Identity
from pteron.runtime.snapshot import Snapshot, read_only
from pteron.runtime.turns import Turns
from pteron.suggestions import listed, meant


class StateEntry(Protocol):
    """One buffer: where its value lives and how it is reached."""

    name: str
    owner: str
    """``delegate`` or ``program``."""

    @property
    def dtype(self) -> np.dtype[np.generic]:
        """Dtype in which the owner holds it (Core ML state: float16)."""
        ...

    @property
    def shape(self) -> tuple[int, ...]: ...

    def read(self) -> Array:
        """A copy of the present value."""
        ...

    def write(self, value: object) -> None:
        """Replace the value. Shape must be equal; floats are rounded to the owner's dtype.

        Raises StateError where shape or kind differ, where a whole number does not fit the dtype,
        or a finite number would become infinite.
        """
        ...

    def reset(self) -> None:
        """Back to the first value, the one it had when the program was loaded."""
        ...

    def rollback(self, length: int, axis: int) -> None:
        """Keep the first ``length`` rows along ``axis``; the others get their first values.

        Raises StateError where there is no such axis, or it has fewer rows.
        """
        ...


def first_rows(entry: StateEntry, length: int, axis: int) -> tuple[slice, ...]:
    """The index of the rows before ``length`` along ``axis``; its last slice is that axis'."""
    rank = len(entry.shape)
    length, axis = _whole(length, "a length"), _whole(axis, "an axis")
    if not -rank <= axis < rank:
        raise StateError(f"state '{entry.name}' has {rank} axes, there is no axis {axis}")
    rows = entry.shape[axis]
    if not 0 <= length <= rows:
        raise StateError(
            f"state '{entry.name}' has {rows} rows along axis {axis}: cannot keep {length}"
        )
    return (*(slice(None) for _ in range(axis % rank)), slice(length))


def _whole(number: object, what: str) -> int:
    try:
        if isinstance(number, bool):
            raise TypeError
        return operator.index(number)  # type: ignore[arg-type]
    except TypeError:
        raise StateError(f"{what} is a whole number, not {number!r}") from None


class ModuleState(Mapping[str, StateEntry]):
    """The states of a module by name."""

    def __init__(self, entries: Mapping[str, StateEntry], identity: Identity, turns: Turns) -> None:
        self._entries = dict(entries)
        self._identity = identity
        self._turns = turns

    def __getitem__(self, name: str) -> StateEntry:
        try:
            return self._entries[name]
        except KeyError:
            raise StateError(
                f"no state '{name}'{meant(name, self._entries)}; this module's states: "
                f"{listed(self._entries)}"
            ) from None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def reset(self) -> None:
        """Every state back to its first value."""
        with self._turns:
            for entry in self._entries.values():
                entry.reset()

    def snapshot(self) -> Snapshot:
        """Copy every state's value, all of the same moment."""
        identity = self._identity.of(self)
        with self._turns:
            values = {name: read_only(entry.read()) for name, entry in self._entries.items()}
        return Snapshot(identity, values)

    def restore(self, snapshot: Snapshot) -> None:
        """Set every state to the snapshot's value.

        Raises StateError, before anything is changed, when the snapshot belongs to another
        program, or its states are not this module's.
        """
        if not isinstance(snapshot, Snapshot):
            raise StateError(f"expected a snapshot, not {type(snapshot).__name__}")
        if snapshot.identity != self._identity.of(self):
            raise StateError("this snapshot was taken from another program")
        if missing := [name for name in self._entries if name not in snapshot.values]:
            raise StateError(f"this snapshot lacks {listed(missing)}")
        fitting = {name: fitted(self[name], value) for name, value in snapshot.values.items()}
        with self._turns:
            for name, value in fitting.items():
                self._entries[name].write(value)

    def rollback(
        self,
        length: int,
        caches: str | Collection[str],
        *,
        axis: int,
        positions: str | Collection[str] = (),
    ) -> None:
        """Forget what a stream took in after its first ``length`` steps.

        For caches that get one row per step, in order (a ring buffer overwrites what would be
        needed; take a snapshot instead). Costs a few copies of each cache, and keeps none.

        Args:
            length: steps to keep, 0 to the caches' number of rows.
            caches: names of states, or globs of them (``"*.k_cache"``). Rows from ``length`` on
                get their first values.
            axis: the axis of their rows; negative ones count from the last.
            positions: names or globs of states that count the steps; every element of them becomes
                ``length``.

        Raises:
            StateError: a name or glob fits no state, or a state cannot be rolled back so far.
                Nothing has been changed then.
        """
        rolled = self._named(caches)
        counters = self._named(positions)
        if both := rolled.keys() & counters.keys():
            raise StateError(f"{listed(sorted(both))}: a cache or a position, not both")
        for entry in rolled.values():
            first_rows(entry, length, axis)
        values = {
            name: fitted(entry, np.full(entry.shape, _whole(length, "a length")))
            for name, entry in counters.items()
        }
        with self._turns:
            for entry in rolled.values():
                entry.rollback(length, axis)
            for name, value in values.items():
                self._entries[name].write(value)

    def save(self, path: str | Path) -> None:
        """Snapshot straight to a .safetensors file."""
        self.snapshot().save(path)

    def load(self, path: str | Path) -> None:
        """Restore from a file that :meth:`save` wrote."""
        self.restore(Snapshot.load(path))

    def _named(self, patterns: str | Collection[str]) -> dict[str, StateEntry]:
        """The states that the names and globs fit, in the module's order."""
        patterns = [patterns] if isinstance(patterns, str) else list(patterns)
        for pattern in patterns:
            if not any(_fits(name, pattern) for name in self._entries):
                raise StateError(
                    f"no state is called '{pattern}'; this module's states: {listed(self._entries)}"
                )
        return {
            name: entry
            for name, entry in self._entries.items()
            if any(_fits(name, pattern) for pattern in patterns)
        }


def _fits(name: str, pattern: str) -> bool:
    return name == pattern or fnmatchcase(name, pattern)
