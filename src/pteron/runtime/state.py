"""State in the user's hands: read, write, reset, snapshot, restore, save and load.

Keys are ``named_buffers()`` names, whoever owns the buffer. A module is one stream: its state
belongs to it alone, and :meth:`pteron.runtime.Module.fork` makes an independent one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Protocol

import numpy as np

from pteron.engines.base import Session, ValueInfo
from pteron.errors import FileAccessError, FormatError, StateError
from pteron.files.saving import write_atomically
from pteron.runtime.arrays import Array, as_array

IDENTITY_KEY = "pteron.identity"


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

        Raises StateError where shape or kind differ, or a finite number would become infinite.
        """
        ...

    def reset(self) -> None:
        """Back to the first value, the one it had when the program was loaded."""
        ...


def fitted(entry: StateEntry, value: object) -> Array:
    """``value`` as the entry's owner must hold it; raises :class:`StateError` where it cannot."""
    array = as_array(value, entry.dtype, f"state '{entry.name}'")
    expected = f"{entry.dtype.name}[{', '.join(map(str, entry.shape))}]"
    came = f"{array.dtype.name}[{', '.join(map(str, array.shape))}]"
    if array.shape != entry.shape or not np.can_cast(array.dtype, entry.dtype, "same_kind"):
        raise StateError(f"state '{entry.name}' is {expected}, got {came}")
    if array.dtype == entry.dtype:
        return array
    with np.errstate(over="ignore"):
        cast = array.astype(entry.dtype)
    if np.any(np.isfinite(array) & ~np.isfinite(cast)):
        raise StateError(f"state '{entry.name}' is {expected}: a value is too large for it")
    return cast


class DelegateState:
    """A state that a delegate owns, inside its engine's session."""

    owner = "delegate"

    def __init__(self, name: str, info: ValueInfo, session: Session, lock: Lock) -> None:
        self.name = name
        self._info = info
        self._session = session
        self._lock = lock

    @property
    def dtype(self) -> np.dtype[np.generic]:
        return np.dtype(self._info.dtype)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(size or 0 for size in self._info.shape)

    def read(self) -> Array:
        with self._lock:
            return self._session.read_state(self._info.name)

    def write(self, value: object) -> None:
        fitting = fitted(self, value)
        with self._lock:
            self._session.write_state(self._info.name, fitting)

    def reset(self) -> None:
        with self._lock:
            self._session.reset_state(self._info.name)


@dataclass(frozen=True)
class Snapshot:
    """Every state's value at one moment, and the identity of the program it belongs to."""

    identity: str
    values: Mapping[str, Array]

    def save(self, path: str | Path) -> None:
        """Write as .safetensors, whole or not at all. Raises FileAccessError where it cannot."""
        from safetensors.numpy import save

        arrays = {name: np.ascontiguousarray(value) for name, value in self.values.items()}
        write_atomically(path, [save(arrays, metadata={IDENTITY_KEY: self.identity})])

    @classmethod
    def load(cls, path: str | Path) -> Snapshot:
        """Read what :meth:`save` wrote."""
        from safetensors import SafetensorError, safe_open

        if Path(path).is_dir():
            raise FileAccessError(f"{path}: is a directory")
        try:
            with safe_open(path, framework="numpy") as file:
                metadata = file.metadata() or {}
                values = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except OSError as error:
            raise FileAccessError(f"{path}: cannot read the snapshot: {error}") from None
        except SafetensorError as error:
            raise FormatError(f"{path} is not a .safetensors file: {error}") from None
        if IDENTITY_KEY not in metadata:
            raise FormatError(f"{path} is no snapshot of a program's state")
        return cls(metadata[IDENTITY_KEY], values)


class ModuleState(Mapping[str, StateEntry]):
    """The states of a module by name."""

    def __init__(self, entries: Mapping[str, StateEntry], identity: str) -> None:
        self._entries = dict(entries)
        self._identity = identity

    def __getitem__(self, name: str) -> StateEntry:
        try:
            return self._entries[name]
        except KeyError:
            known = ", ".join(self._entries) or "none"
            raise StateError(f"no state '{name}'; this module's states: {known}") from None

    def __contains__(self, name: object) -> bool:
        return name in self._entries

    def __iter__(self) -> Iterator[str]:
        return iter(self._entries)

    def __len__(self) -> int:
        return len(self._entries)

    def reset(self) -> None:
        """Every state back to its first value."""
        for entry in self._entries.values():
            entry.reset()

    def snapshot(self) -> Snapshot:
        """Copy every state's value."""
        return Snapshot(self._identity, {name: e.read() for name, e in self._entries.items()})

    def restore(self, snapshot: Snapshot) -> None:
        """Set every state to the snapshot's value.

        Raises StateError, before anything is changed, when the snapshot belongs to another program.
        """
        if not isinstance(snapshot, Snapshot):
            raise StateError(f"expected a snapshot, not {type(snapshot).__name__}")
        if snapshot.identity != self._identity:
            raise StateError("this snapshot was taken from another program")
        fitting = {name: fitted(self[name], value) for name, value in snapshot.values.items()}
        for name, value in fitting.items():
            self[name].write(value)

    def save(self, path: str | Path) -> None:
        """Snapshot straight to a .safetensors file."""
        self.snapshot().save(path)

    def load(self, path: str | Path) -> None:
        """Restore from a file that :meth:`save` wrote."""
        self.restore(Snapshot.load(path))
