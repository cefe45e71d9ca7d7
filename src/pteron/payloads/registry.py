"""Which reader takes which backend's payloads: one registered, one of ours, or a plug-in's."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from importlib import import_module
from typing import Any

from pteron.errors import UnsupportedError
from pteron.payloads.base import PayloadSource
from pteron.payloads.reader import PayloadReader

ENTRY_POINT_GROUP = "pteron.payloads"
"""Entry-point group of plug-ins: name = backend id, object = a :class:`PayloadReader`."""

_BUILT_IN = {
    "CoreMLBackend": ("pteron.payloads.coreml.reader", "READER"),
    "XnnpackBackend": ("pteron.payloads.xnnpack.reader", "READER"),
}
_registered: dict[str, PayloadReader] = {}


def register(reader: PayloadReader) -> None:
    """Use ``reader`` for its backend's payloads in this process, in place of any other."""
    _registered[reader.backend_id] = reader


def find_reader(backend_id: str) -> PayloadReader | None:
    """The reader of a backend's payloads, or ``None`` when pteron knows none."""
    return _registered.get(backend_id) or _load(backend_id)


def known_backends() -> list[str]:
    """Ids of the backends whose payloads can be read here, sorted."""
    from importlib.metadata import entry_points

    plugged = (point.name for point in entry_points(group=ENTRY_POINT_GROUP))
    return sorted({*_BUILT_IN, *_registered, *plugged})


def open_payload(
    backend_id: str,
    payload: Any,
    named_data: Mapping[str, Any] | None = None,
    method: str = "forward",
) -> PayloadSource:
    """A delegate's payload as a tree of files.

    Args:
        backend_id: the delegate's backend.
        payload: its bytes (any buffer).
        named_data: named data of its program, key -> buffer; for payloads that refer to it.
        method: the method the delegate belongs to.

    Raises:
        UnsupportedError: no reader for this backend.
        FormatError: the payload is damaged, or refers to named data that is not there.
    """
    reader = find_reader(backend_id)
    if reader is None:
        known = ", ".join(known_backends())
        raise UnsupportedError(f"no payload reader for backend {backend_id!r}; there are: {known}")
    return reader.open(as_bytes(payload), BytesMapping(named_data or {}), method)


def as_bytes(buffer: Any) -> memoryview:
    """A read-only view of any buffer, one byte per element."""
    return memoryview(buffer).cast("B").toreadonly()


class BytesMapping(Mapping[str, memoryview]):
    """Named data as readers get it: each blob a view of bytes, made when it is asked for."""

    def __init__(self, buffers: Mapping[str, Any]) -> None:
        self._buffers = buffers

    def __getitem__(self, key: str) -> memoryview:
        value = self._buffers[key]
        return as_bytes(getattr(value, "data", value))

    def __iter__(self) -> Any:
        return iter(self._buffers)

    def __len__(self) -> int:
        return len(self._buffers)


@cache
def _load(backend_id: str) -> PayloadReader | None:
    if backend_id in _BUILT_IN:
        module, name = _BUILT_IN[backend_id]
        return getattr(import_module(module), name)  # type: ignore[no-any-return]
    from importlib.metadata import entry_points  # slow to import, and seldom needed

    for point in entry_points(group=ENTRY_POINT_GROUP, name=backend_id):
        return point.load()  # type: ignore[no-any-return]
    return None
