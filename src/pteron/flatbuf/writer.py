"""The one writer of tables: from objects to the same bytes every time.

A buffer grows from its end to its beginning, children before parents, so that every offset points
forward and a child may be shared. Vtables, short strings and short vectors of numbers are shared;
tables are not, since each is an object of its own when read.
"""

from __future__ import annotations

import math
import struct
from dataclasses import dataclass
from typing import Any

from pteron.flatbuf.arrangement import Arrangement, arrange
from pteron.flatbuf.declare import (
    Blob,
    Buffer,
    FieldType,
    Number,
    Numbers,
    String,
    Subtable,
    Tables,
    Union,
)
from pteron.flatbuf.faults import Fault
from pteron.flatbuf.table import Slot, Table, slots_of
from pteron.flatbuf.values import FREE_STRING

_SHARED_VECTOR = 16
"""Longest vector of numbers, in bytes, that is shared.

Readers copy a vector each time it is referred to, within a budget (see ``reader``); sharing only
short ones keeps every file that is written here well inside it.
"""


@dataclass(frozen=True)
class Encoded:
    """A finished buffer in pieces, so that large blobs are never copied.

    Attributes:
        pieces: the buffer, in order.
        size: total bytes.
    """

    pieces: list[Buffer]
    size: int


def encode(
    root: Table,
    identifier: bytes,
    *,
    header_size: int = 0,
    alignments: dict[type[Table], int] | None = None,
) -> Encoded:
    """Write ``root`` and everything below it.

    Args:
        identifier: the four bytes at offset 4.
        header_size: bytes to leave zero between the identifier and the tables.
        alignments: larger alignment for the blobs of a table than its schema says.

    Raises :class:`~pteron.errors.UsageError` that names the field that cannot be written.
    """
    writer = _Writer(alignments or {})
    try:
        at = writer.table(root)
    except Fault as fault:
        raise fault.as_usage_error() from None
    return writer.finish(at, identifier, header_size)


class _Writer:
    """Places are distances from the end of the buffer, since its start is not known yet."""

    def __init__(self, alignments: dict[type[Table], int]) -> None:
        self._pieces: list[Buffer] = []  # last piece first
        self._size = 0
        self._largest = 4
        self._alignments = alignments
        self._shared: dict[tuple[Any, ...], int] = {}
        self._arrangements: dict[tuple[type[Table], tuple[int, ...]], Arrangement] = {}

    def finish(self, root: int, identifier: bytes, header_size: int) -> Encoded:
        start = 8 + header_size
        self._align(start, self._largest)
        total = self._size + start
        self._push(struct.pack("<I4s", total - root, identifier) + bytes(header_size))
        return Encoded(self._pieces[::-1], self._size)

    # Placing bytes

    def _push(self, piece: Buffer) -> int:
        self._pieces.append(piece)
        self._size += len(piece)
        return self._size

    def _align(self, upcoming: int, alignment: int) -> None:
        """Pad so that after ``upcoming`` more bytes the place is a multiple of ``alignment``."""
        self._largest = max(self._largest, alignment)
        if padding := -(self._size + upcoming) % alignment:
            self._push(bytes(padding))

    def _vector(self, count: int, data: Buffer, alignment: int) -> int:
        self._align(len(data), max(alignment, 4))
        self._push(data)
        return self._push(struct.pack("<I", count))

    # Values: each returns the place of what it wrote

    def table(self, table: Table) -> int:
        slots = slots_of(type(table))
        stored = [
            (slot, value)
            for slot in slots
            if (value := self._field(table, slot, getattr(table, slot.name))) is not None
        ]
        numbers = tuple(
            number
            for slot, _ in stored
            for number in ([slot.number, slot.number + 1] if _is_union(slot) else [slot.number])
        )
        arrangement = self._arrangements.get((type(table), numbers))
        if arrangement is None:
            arrangement = self._arrangements[type(table), numbers] = arrange(type(table), numbers)
        vtable = self._once(("vtable", arrangement.vtable), arrangement.vtable, 2)
        self._align(arrangement.size, arrangement.alignment)
        start = self._size + arrangement.size
        values = [vtable - start]
        values += _in_place(stored, start, arrangement.offsets)
        try:
            data = arrangement.struct.pack(*[values[i] for i in arrangement.order])
        except struct.error:
            raise _unfit(stored) from None
        return self._push(data)

    def _field(self, table: Table, slot: Slot, value: Any) -> Any:
        """A number as it is, the place of anything else, or ``None`` for an absent field."""
        declared = slot.declared
        if isinstance(declared.type, Number):
            return None if _is_default(value, declared.default) else value
        if value is None:
            if declared.required or declared.default is list:
                raise Fault("is missing").under(slot.name)
            return None
        try:
            return self._value(declared.type, value, type(table))
        except Fault as fault:
            raise fault.under(slot.name) from None
        except (struct.error, TypeError, AttributeError) as error:
            raise Fault(f"{value!r:.80} cannot be written: {error}").under(slot.name) from None

    def _value(self, kind: FieldType, value: Any, owner: type[Table]) -> Any:
        if isinstance(kind, String):
            return self._string(value)
        if isinstance(kind, Blob):
            alignment = max(kind.alignment, self._alignments.get(owner, 1))
            return self._vector(len(value), _flat(value), alignment)
        if isinstance(kind, Numbers):
            return self._numbers(kind, value)
        if isinstance(kind, Subtable):
            return self._checked(kind.table, value)
        if isinstance(kind, Tables):
            return self._tables(kind, value)
        assert isinstance(kind, Union)
        if type(value) not in kind.tables:
            raise Fault(f"a {type(value).__name__} does not belong here")
        return kind.tables.index(type(value)) + 1, self.table(value)

    def _checked(self, kind: type[Table], value: Any) -> int:
        if type(value) is not kind:
            raise Fault(f"a {type(value).__name__} where a {kind.__name__} belongs")
        return self.table(value)

    def _once(self, key: tuple[Any, ...], data: bytes, alignment: int) -> int:
        at = self._shared.get(key)
        if at is None:
            self._align(len(data), alignment)
            at = self._shared[key] = self._push(data)
        return at

    def _string(self, text: str) -> int:
        data = text.encode("utf-8")
        key = "string", data
        at = self._shared.get(key) if len(data) <= FREE_STRING else None
        if at is None:
            self._align(len(data) + 1, 4)
            self._push(data + b"\0")
            at = self._shared[key] = self._push(struct.pack("<I", len(data)))
        return at

    def _numbers(self, kind: Numbers, items: list[Any]) -> int:
        scalar = kind.scalar
        data = struct.pack(f"<{len(items)}{scalar.code}", *items)
        if len(data) > _SHARED_VECTOR:
            return self._vector(len(items), data, scalar.size)
        key = scalar.name, data
        at = self._shared.get(key)
        if at is None:
            at = self._shared[key] = self._vector(len(items), data, scalar.size)
        return at

    def _tables(self, kind: Tables, items: list[Any]) -> int:
        places = []
        try:
            for item in reversed(items):
                places.append(self._checked(kind.table, item))  # noqa: PERF401
        except Fault as fault:
            raise fault.under(f"[{len(items) - 1 - len(places)}]") from None
        self._align(0, 4)
        end = self._size
        offsets = [end + 4 * (i + 1) - place for i, place in enumerate(places)]
        self._push(struct.pack(f"<{len(offsets)}I", *reversed(offsets)))
        return self._push(struct.pack("<I", len(offsets)))


def _in_place(stored: list[tuple[Slot, Any]], start: int, offsets: tuple[int, ...]) -> list[Any]:
    """Numbers as they are, places as offsets from where they are stored."""
    values: list[Any] = []
    for slot, value in stored:
        if isinstance(slot.declared.type, Number):
            values.append(value)
            continue
        if isinstance(slot.declared.type, Union):
            tag, value = value
            values.append(tag)
        values.append(start - offsets[len(values)] - value)
    return values


def _is_default(value: Any, default: Any) -> bool:
    """Whether an absent field says the same; minus zero is not zero."""
    return bool(value == default) and (value != 0 or math.copysign(1, value) > 0)


def _is_union(slot: Slot) -> bool:
    return isinstance(slot.declared.type, Union)


def _flat(value: Any) -> Buffer:
    view = memoryview(value)
    return view if view.format == "B" and view.ndim == 1 else view.cast("B")


def _unfit(stored: list[tuple[Slot, Any]]) -> Fault:
    """Which of the numbers of a table does not fit its field."""
    for slot, value in stored:
        kind = slot.declared.type
        if isinstance(kind, Number):
            try:
                struct.pack(f"<{kind.scalar.code}", value)
            except struct.error:
                return Fault(f"{value!r} does not fit {kind.scalar.name}").under(slot.name)
    return Fault("the buffer is larger than offsets of 32 bits can reach")
