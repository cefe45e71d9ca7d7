"""What a snapshot and the program it is restored to must agree on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from hashlib import blake2b

from pteron.runtime.delegates import LoadRecord
from pteron.runtime.state import StateEntry


def identity(states: Mapping[str, StateEntry], records: Iterable[LoadRecord]) -> str:
    """Hex digest over the payloads, and over every state's name, dtype and shape."""
    digest = blake2b(digest_size=16)
    for record in records:
        digest.update(record.digest.encode())
    for name, entry in states.items():
        digest.update(f"{name}:{entry.dtype.name}{entry.shape}".encode())
    return digest.hexdigest()
