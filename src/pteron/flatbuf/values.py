"""From what a table stores in place to the value of its field, one function per kind of field.

Each is called as ``convert(reader, field, stored)``: the position of the field, and the number that
stands there (for everything but numbers, an offset that is still to be verified).
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pteron.flatbuf.declare import Blob, Number, Numbers, String, Subtable, Union
from pteron.flatbuf.faults import Fault
from pteron.flatbuf.table import Slot, Table, slots_of

if TYPE_CHECKING:
    from pteron.flatbuf.reader import Reader

Convert = Callable[["Reader", int, Any], Any]

TABLE_COST = 96  # bytes of memory that a small object takes
ITEM_COST = 40  # bytes of memory that a number in a list takes
_SMALL_ITEM_COST = 8  # the same for bytes and booleans, which Python keeps once

FREE_STRING = 256
"""Bytes up to which a string may be shared without cost. Whoever prints names multiplies them: a
megabyte that is the name of everything would be terabytes."""


def cost_of(table: type[Table]) -> int:
    """Bytes of memory that a table of this class takes, without what its fields refer to."""
    return TABLE_COST + 8 * len(slots_of(table))


def absent(slot: Slot) -> Convert | None:
    """What makes the value of an absent field, where that is not a constant."""
    if slot.declared.required:
        return _missing
    return _fresh_list if slot.declared.default is list else None


def present(table: type[Table], slot: Slot, tag_at: int | None) -> Convert | None:
    """What makes the value of a present field, where that is not what is stored.

    Args:
        tag_at: for a union, where its tag is, counted from its value; ``None`` if it has none.
    """
    kind = slot.declared.type
    if isinstance(kind, Number):
        return None if kind.members is None else _enum(kind)
    if isinstance(kind, String):
        return _string
    if isinstance(kind, Blob):
        return _blob
    if isinstance(kind, Numbers):
        return _numbers(kind)
    if isinstance(kind, Subtable):
        return _subtable(kind)
    assert isinstance(kind, Union)
    return _union(table, slot.name, kind, tag_at)


def _missing(reader: Reader, field: int, stored: Any) -> Any:
    raise Fault("is missing", field)


def _fresh_list(reader: Reader, field: int, stored: Any) -> list[Any]:
    return []


def _enum(kind: Number) -> Convert:
    known = kind.members or {}
    return lambda reader, field, stored: known.get(stored, stored)


def _string(reader: Reader, field: int, stored: int) -> str:
    at = reader.target(field)
    known = reader.strings.get(at)
    if known is None:
        known = reader.strings[at] = _text(reader, at)
    elif len(known) > FREE_STRING:
        reader.spend(len(known), at)
    return known


def _text(reader: Reader, at: int) -> str:
    count = reader.length(at, 1, "string")
    reader.spend(count + TABLE_COST, at)
    start, buffer = at + 4, reader.buffer
    if start + count >= len(buffer) or buffer[start + count]:
        raise Fault("string has no terminating zero", at)
    try:
        return str(buffer[start : start + count], "utf-8")
    except UnicodeDecodeError as error:
        raise Fault(f"string is not UTF-8 ({error.reason})", start + error.start) from None


def _blob(reader: Reader, field: int, stored: int) -> memoryview:
    at = reader.target(field)
    count = reader.length(at, 1, "byte vector")
    reader.spend(2 * TABLE_COST, at)
    return reader.buffer[at + 4 : at + 4 + count]


def _numbers(kind: Numbers) -> Convert:
    code, width = kind.scalar.code, kind.scalar.size
    cost = ITEM_COST if width > 1 else _SMALL_ITEM_COST

    def convert(reader: Reader, field: int, stored: int) -> list[Any]:
        at = reader.target(field)
        count = reader.length(at, width, "vector")
        reader.spend(ITEM_COST + cost * count, at)
        return list(struct.unpack_from(f"<{count}{code}", reader.buffer, at + 4))

    return convert


def _subtable(kind: Subtable) -> Convert:
    table, cost = kind.table, cost_of(kind.table)

    def convert(reader: Reader, field: int, stored: int) -> Table:
        at = reader.target(field)
        reader.spend(cost, at)
        return reader.table(table, at)

    return convert


def _union(owner: type[Table], name: str, kind: Union, tag_at: int | None) -> Convert:
    tables, costs = kind.tables, tuple(map(cost_of, kind.tables))

    def convert(reader: Reader, field: int, stored: int) -> Table | None:
        if tag_at is None or field + tag_at >= len(reader.buffer):
            raise Fault("has a value without a tag", field)
        tag = reader.buffer[field + tag_at]
        if not tag:
            return None
        if tag > len(tables):
            reader.note_unknown(owner, f"{name}: member {tag}", field)
            return None
        at = reader.target(field)
        reader.spend(costs[tag - 1], at)
        return reader.table(tables[tag - 1], at)

    return convert
