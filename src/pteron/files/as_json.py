"""A table and everything below it as plain data, in the form of ExecuTorch's own JSON.

That form is what FlatBuffers' compiler makes of a program: an object per table, enum members by
name, a union ``x`` with its type in ``x_type``, infinities and NaN as strings. Only blobs differ,
which would be lists of numbers: they are told by their size, and small ones by their content.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from enum import IntEnum
from typing import Any

from pteron.flatbuf import Table
from pteron.flatbuf.declare import Union
from pteron.flatbuf.table import Slot, slots_of

_SHOWN = 64
"""Largest blob whose bytes are given in hexadecimal; text may be ten times as long."""


def as_json(table: Table) -> dict[str, Any]:
    """What ``json.dumps`` can take; absent optional fields are left out."""
    return {name: value for slot in slots_of(type(table)) for name, value in _field(table, slot)}


def blob_as_json(blob: bytes | bytearray | memoryview) -> dict[str, Any]:
    """``bytes``, and ``text`` or ``hex`` where the blob is small."""
    size = len(blob)
    if size <= 10 * _SHOWN and (text := _text(bytes(blob))) is not None:
        return {"bytes": size, "text": text}
    return {"bytes": size, "hex": bytes(blob).hex()} if size <= _SHOWN else {"bytes": size}


def _field(table: Table, slot: Slot) -> Iterator[tuple[str, Any]]:
    value = getattr(table, slot.name)
    if isinstance(slot.declared.type, Union):
        yield f"{slot.name}_type", type(value).__name__ if value is not None else "NONE"
    if value is not None:
        yield slot.name, _plain(value)


def _plain(value: Any) -> Any:
    if isinstance(value, Table):
        return as_json(value)
    if isinstance(value, list):
        return [_plain(item) for item in value]
    if isinstance(value, (bytes, bytearray, memoryview)):
        return blob_as_json(value)
    if isinstance(value, IntEnum):
        return value.name
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    return value


def _text(blob: bytes) -> str | None:
    try:
        text = blob.decode("utf-8")
    except UnicodeDecodeError:
        return None
    return text if all(c.isprintable() or c in "\n\t" for c in text) else None
