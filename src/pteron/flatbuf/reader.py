"""The one reader of tables: verifies everything before it uses it, and works within a budget.

Speed comes from the vtable: tables of one shape share one, so a vtable is verified once and turned
into a :class:`Layout`, a single :class:`struct.Struct` that reads all of a table's fields at once.

A table type can only name types declared before it, so nesting is as deep as the schema and no
cycle of offsets can be followed. Offsets may be shared, however; the budget bounds what comes of
that: decoding takes memory in proportion to the buffer, whatever the offsets say.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

from pteron.flatbuf.declare import (
    Blob,
    Number,
    Numbers,
    String,
    Subtable,
    Tables,
    Union,
)
from pteron.flatbuf.faults import Fault
from pteron.flatbuf.table import Slot, Table, TableT, set_lazy, slots_of

_BASE_BUDGET = 4 << 20
_BUDGET_PER_BYTE = 16
_TABLE_COST = 96  # bytes of memory that a small table object takes
_LAYOUT_COST = 128  # what a slot of a vtable costs, in time as well as memory
_ITEM_COST = 40  # bytes of memory that a number in a list takes
_SMALL_ITEM_COST = 8  # the same for bytes and booleans, which Python keeps once

_U16 = struct.Struct("<H").unpack_from
_U32 = struct.Struct("<I").unpack_from
_I32 = struct.Struct("<i").unpack_from

Convert = Callable[[int, Any], Any]
"""(position of the field, what is stored there) -> value."""


class UnknownField(NamedTuple):
    """A field or union member that a newer schema added."""

    table: str
    field: str
    """``slot 10``, or ``val: member 12`` for a union."""
    offset: int
    """Byte offset of the first table in which it was seen."""


@dataclass(frozen=True)
class Layout:
    """Where a table of one vtable keeps its fields."""

    size: int
    """Bytes up to the end of the last field."""
    unpack: Callable[[memoryview, int], tuple[Any, ...]]
    defaults: tuple[Any, ...]
    order: tuple[int, ...]
    """For each field of the class, its index in ``unpack(...) + defaults``."""
    conversions: tuple[tuple[int, int, Convert], ...]
    """(index of the field, its offset in the table, what makes its value)."""
    lazy: tuple[tuple[str, int, type[Table]], ...]
    """(name, offset in the table, item type) of every vector of tables."""


class Reader:
    """Reads tables out of one buffer.

    Args:
        buffer: the FlatBuffer, from its first byte to its last; bytes past it are out of reach.
    """

    def __init__(self, buffer: memoryview) -> None:
        self.buffer = buffer
        self.unknown: dict[tuple[str, str], UnknownField] = {}
        self._budget = _BASE_BUDGET + _BUDGET_PER_BYTE * len(buffer)
        self._layouts: dict[tuple[type[Table], int], Layout] = {}
        self._strings: dict[int, str] = {}

    def root(self, table: type[TableT]) -> TableT:
        """The root table. Raises :class:`~pteron.errors.FormatError`."""
        try:
            return self._table(table, self._target(0), "")
        except Fault as fault:
            raise fault.as_format_error() from None

    def root_slots(self) -> tuple[int, ...]:
        """Offsets of the root's fields, by slot: what tells schemas apart that share a name."""
        try:
            at = self._target(0)
            return self._vtable(at - self._soffset(at))
        except Fault as fault:
            raise fault.as_format_error() from None

    # Tables

    def _soffset(self, at: int) -> int:
        try:
            offset: int = _I32(self.buffer, at)[0]
        except struct.error:
            raise Fault("table is past the end", at) from None
        return offset

    def _table(self, table: type[TableT], at: int, path: str) -> TableT:
        vtable = at - self._soffset(at)
        layout = self._layouts.get((table, vtable))
        if layout is None:
            layout = self._layouts[table, vtable] = self._layout(table, vtable, at)
        if at + layout.size > len(self.buffer):
            raise Fault(f"table of {layout.size} bytes runs past the end ({len(self.buffer)})", at)
        stored = layout.unpack(self.buffer, at) + layout.defaults
        values = [stored[i] for i in layout.order]
        index = 0
        try:
            for index, offset, convert in layout.conversions:
                values[index] = convert(at + offset, values[index])
        except Fault as fault:
            raise fault.under(slots_of(table)[index].name) from None
        made = table(*values)
        if layout.lazy:
            self._make_lazy(made, layout, at, path)
        return made

    def _make_lazy(self, made: Table, layout: Layout, at: int, path: str) -> None:
        prefix = f"{path}." if path else ""
        set_lazy(
            made,
            {
                name: partial(self.load_tables, item, at + offset, prefix + name)
                for name, offset, item in layout.lazy
            },
        )

    def _layout(self, table: type[Table], vtable: int, at: int) -> Layout:
        """Verify a vtable and compile it; ``at`` is the first table that uses it."""
        offsets = self._vtable(vtable)
        self._spend(_LAYOUT_COST * (32 + len(offsets)), vtable)
        slots = slots_of(table)
        self._note_unknown(table, slots, offsets, at)
        present: list[tuple[int, int, str, int]] = []  # offset, index, code, size
        absent: list[tuple[int, Any]] = []
        conversions, lazy = [], []
        for index, slot in enumerate(slots):
            kind = slot.declared.type
            number = slot.number + isinstance(kind, Union)
            offset = offsets[number] if number < len(offsets) else 0
            if not offset:
                absent.append((index, slot.declared.default))
                if convert := self._absent(slot):
                    conversions.append((index, 0, convert))
                continue
            if offset < 4:
                raise Fault(f"field at {offset} overlaps its table's head", at).under(slot.name)
            code, width = "I", 4
            if isinstance(kind, Number):
                code, width = kind.scalar.code, kind.scalar.size
            present.append((offset, index, code, width))
            if isinstance(kind, Tables):
                lazy.append((slot.name, offset, kind.table))
            elif convert := self._converter(table, slot, offset, offsets):
                conversions.append((index, offset, convert))
        present.sort()
        return Layout(
            max([4, *(offset + width for offset, _, _, width in present)]),
            _unpacker(present, at),
            tuple(default for _, default in absent),
            _order([index for _, index, _, _ in present] + [index for index, _ in absent]),
            tuple(conversions),
            tuple(lazy),
        )

    def _vtable(self, vtable: int) -> tuple[int, ...]:
        """Offsets of the fields, by slot.

        The size that a vtable gives its tables is not to be relied on: FlatBuffers' Python builder
        shares vtables between tables of different sizes, and verifiers elsewhere do not look at it.
        """
        if vtable < 0 or vtable + 4 > len(self.buffer):
            raise Fault("vtable is outside the buffer", vtable)
        (length,) = _U16(self.buffer, vtable)
        if vtable + length > len(self.buffer):
            raise Fault(f"vtable of {length} bytes runs past the end ({len(self.buffer)})", vtable)
        if length < 4 or length % 2:
            raise Fault(f"vtable has the impossible length {length}", vtable)
        return struct.unpack_from(f"<{length // 2 - 2}H", self.buffer, vtable + 4)

    def _note_unknown(
        self, table: type[Table], slots: tuple[Slot, ...], offsets: tuple[int, ...], at: int
    ) -> None:
        last = slots[-1] if slots else None
        known = last.number + 1 + isinstance(last.declared.type, Union) if last else 0
        for number in range(known, len(offsets)):
            if offsets[number]:
                self._unknown(table, f"slot {number}", at)

    def _unknown(self, table: type[Table], field: str, at: int) -> None:
        key = table.__name__, field
        self.unknown.setdefault(key, UnknownField(*key, at))

    # Values

    def _absent(self, slot: Slot) -> Convert | None:
        """What makes the value of an absent field, where that is not a constant."""
        if slot.declared.required:
            return _raise_missing
        return _fresh_list if slot.declared.default is list else None

    def _converter(
        self, table: type[Table], slot: Slot, offset: int, offsets: tuple[int, ...]
    ) -> Convert | None:
        """What makes the value of a present field, where that is not what is stored."""
        kind = slot.declared.type
        if isinstance(kind, Number):
            return None if kind.members is None else _enum(kind.members)
        if isinstance(kind, String):
            return self._string
        if isinstance(kind, Blob):
            return self._blob
        if isinstance(kind, Numbers):
            return self._numbers(kind)
        if isinstance(kind, Subtable):
            return self._subtable(kind.table)
        assert isinstance(kind, Union)
        tag = offsets[slot.number]
        if tag and tag < 4:
            raise Fault(f"tag at {tag} of its table overlaps the head").under(slot.name)
        return self._union(table, slot.name, kind.tables, tag - offset if tag else None)

    def _target(self, at: int) -> int:
        """Follow the offset stored at ``at``."""
        try:
            offset: int = _U32(self.buffer, at)[0]
        except struct.error:
            raise Fault("offset is past the end", at) from None
        if not offset:
            raise Fault("offset is zero", at)
        return at + offset

    def _length(self, at: int, width: int, what: str) -> int:
        """Verified number of items of the vector at ``at``."""
        try:
            count: int = _U32(self.buffer, at)[0]
        except struct.error:
            raise Fault(f"{what} is past the end", at) from None
        if at + 4 + count * width > len(self.buffer):
            raise Fault(
                f"{what} of {count} x {width} bytes runs past the end ({len(self.buffer)})", at
            )
        return count

    def _spend(self, cost: int, at: int) -> None:
        self._budget -= cost
        if self._budget < 0:
            raise Fault("shared offsets make this larger than any honest file", at)

    def _string(self, field: int, stored: int) -> str:
        at = self._target(field)
        known = self._strings.get(at)
        if known is not None:
            return known
        count = self._length(at, 1, "string")
        self._spend(count + _TABLE_COST, at)
        start = at + 4
        if start + count >= len(self.buffer) or self.buffer[start + count]:
            raise Fault("string has no terminating zero", at)
        try:
            text = str(self.buffer[start : start + count], "utf-8")
        except UnicodeDecodeError as error:
            raise Fault(f"string is not UTF-8 ({error.reason})", start + error.start) from None
        self._strings[at] = text
        return text

    def _blob(self, field: int, stored: int) -> memoryview:
        at = self._target(field)
        count = self._length(at, 1, "byte vector")
        self._spend(2 * _TABLE_COST, at)
        return self.buffer[at + 4 : at + 4 + count]

    def _numbers(self, kind: Numbers) -> Convert:
        code, width = kind.scalar.code, kind.scalar.size
        cost = _ITEM_COST if width > 1 else _SMALL_ITEM_COST

        def convert(field: int, stored: int) -> list[Any]:
            at = self._target(field)
            count = self._length(at, width, "vector")
            self._spend(_ITEM_COST + cost * count, at)
            return list(struct.unpack_from(f"<{count}{code}", self.buffer, at + 4))

        return convert

    def _subtable(self, table: type[Table]) -> Convert:
        cost = _cost(table)

        def convert(field: int, stored: int) -> Table:
            at = self._target(field)
            self._spend(cost, at)
            return self._table(table, at, "")

        return convert

    def _union(
        self, owner: type[Table], name: str, kinds: tuple[type[Table], ...], tag_at: int | None
    ) -> Convert:
        costs = tuple(map(_cost, kinds))

        def convert(field: int, stored: int) -> Table | None:
            tag = self._tag(field, tag_at)
            if not tag:
                return None
            if tag > len(kinds):
                self._unknown(owner, f"{name}: member {tag}", field)
                return None
            at = self._target(field)
            self._spend(costs[tag - 1], at)
            return self._table(kinds[tag - 1], at, "")

        return convert

    def _tag(self, field: int, tag_at: int | None) -> int:
        if tag_at is None or field + tag_at >= len(self.buffer):
            raise Fault("has a value without a tag", field)
        return self.buffer[field + tag_at]

    def load_tables(self, item: type[TableT], field: int, path: str) -> list[TableT]:
        """Decode the vector of tables whose offset is stored at ``field``.

        Raises :class:`~pteron.errors.FormatError` with a path that begins with ``path``.
        """
        try:
            at = self._target(field)
            count = self._length(at, 4, "vector")
            self._spend(_ITEM_COST + (_cost(item) + 8) * count, at)
            return self._items(item, at + 4, count, path)
        except Fault as fault:
            raise fault.as_format_error(path) from None

    def _items(self, item: type[TableT], at: int, count: int, path: str) -> list[TableT]:
        made: list[TableT] = []
        deep = any(isinstance(slot.declared.type, Tables) for slot in slots_of(item))
        read = self._table
        try:
            for offset in struct.unpack_from(f"<{count}I", self.buffer, at):
                if not offset:
                    raise Fault("offset is zero", at)
                made.append(read(item, at + offset, f"{path}[{len(made)}]" if deep else ""))
                at += 4
        except Fault as fault:
            raise fault.under(f"[{len(made)}]") from None
        return made


def _cost(table: type[Table]) -> int:
    return _TABLE_COST + 8 * len(slots_of(table))


def _unpacker(
    present: list[tuple[int, int, str, int]], at: int
) -> Callable[[memoryview, int], tuple[Any, ...]]:
    """One call that reads all fields; ``present`` is sorted by offset."""
    codes, end = "<", 0
    for offset, _, code, width in present:
        if offset < end:
            raise Fault("fields of the table overlap", at)
        codes += f"{offset - end}x{code}"
        end = offset + width
    return struct.Struct(codes).unpack_from


def _order(stored: list[int]) -> tuple[int, ...]:
    """Inverse of the permutation ``stored``."""
    return tuple(stored.index(index) for index in range(len(stored)))


def _enum(known: dict[int, Any]) -> Convert:
    return lambda field, stored: known.get(stored, stored)


def _fresh_list(field: int, stored: Any) -> list[Any]:
    return []


def _raise_missing(field: int, stored: Any) -> Any:
    raise Fault("is missing", field)
