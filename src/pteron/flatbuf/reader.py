"""The one reader of tables: verifies everything before it uses it, and works within a budget.

Speed comes from the vtable: tables of one shape share one, so a vtable is verified once and turned
into a :class:`~pteron.flatbuf.layout.Layout` that reads all of a table's fields at once.

A table type can only name types declared before it, so nesting is as deep as the schema and no
cycle of offsets can be followed. Offsets may be shared, however; the budget bounds what comes of
that: decoding takes memory in proportion to the buffer, whatever the offsets say.
"""

from __future__ import annotations

import struct
from functools import partial
from typing import NamedTuple

from pteron.flatbuf.declare import Tables
from pteron.flatbuf.faults import Fault
from pteron.flatbuf.layout import Layout, compile_layout, read_vtable, unknown_slots
from pteron.flatbuf.table import Table, TableT, set_lazy, slots_of
from pteron.flatbuf.values import ITEM_COST, cost_of

_BASE_BUDGET = 4 << 20
_BUDGET_PER_BYTE = 16
_LAYOUT_COST = 128  # what a slot of a vtable costs, in time as well as memory

_U32 = struct.Struct("<I").unpack_from
_I32 = struct.Struct("<i").unpack_from


class UnknownField(NamedTuple):
    """A field or union member that a newer schema added."""

    table: str
    field: str
    """``slot 10``, or ``val: member 12`` for a union."""
    offset: int
    """Byte offset of the first table in which it was seen."""


class Reader:
    """Reads tables out of one buffer.

    Args:
        buffer: the FlatBuffer, from its first byte to its last; bytes past it are out of reach.

    Attributes:
        strings: what was read, by position; strings may be shared.
        unknown: what a newer schema added, as far as it was seen.
    """

    def __init__(self, buffer: memoryview) -> None:
        self.buffer = buffer
        self.strings: dict[int, str] = {}
        self.unknown: dict[tuple[str, str], UnknownField] = {}
        self._budget = _BASE_BUDGET + _BUDGET_PER_BYTE * len(buffer)
        self._layouts: dict[tuple[type[Table], int], Layout] = {}

    def root(self, table: type[TableT]) -> TableT:
        """The root table. Raises :class:`~pteron.errors.FormatError`."""
        try:
            return self.table(table, self.target(0))
        except Fault as fault:
            raise fault.as_format_error() from None

    def root_slots(self) -> tuple[int, ...]:
        """Offsets of the root's fields, by slot: what tells schemas apart that share a name."""
        try:
            at = self.target(0)
            return read_vtable(self.buffer, at - self._to_vtable(at))
        except Fault as fault:
            raise fault.as_format_error() from None

    def load_tables(self, item: type[TableT], field: int, path: str) -> list[TableT]:
        """Decode the vector of tables whose offset is stored at ``field``.

        Raises :class:`~pteron.errors.FormatError` with a path that begins with ``path``.
        """
        try:
            at = self.target(field)
            count = self.length(at, 4, "vector")
            self.spend(ITEM_COST + (cost_of(item) + 8) * count, at)
            return self._items(item, at + 4, count, path)
        except Fault as fault:
            raise fault.as_format_error(path) from None

    # For the functions of :mod:`pteron.flatbuf.values`; all of these raise Fault

    def table(self, table: type[TableT], at: int, path: str = "") -> TableT:
        """The table at ``at``, whose cost has been spent."""
        vtable = at - self._to_vtable(at)
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
                values[index] = convert(self, at + offset, values[index])
        except Fault as fault:
            raise fault.under(slots_of(table)[index].name) from None
        made = table(*values)
        if layout.lazy:
            self._make_lazy(made, layout, at, path)
        return made

    def target(self, at: int) -> int:
        """Follow the offset stored at ``at``."""
        try:
            offset: int = _U32(self.buffer, at)[0]
        except struct.error:
            raise Fault("offset is past the end", at) from None
        if not offset:
            raise Fault("offset is zero", at)
        return at + offset

    def length(self, at: int, width: int, what: str) -> int:
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

    def spend(self, cost: int, at: int) -> None:
        """Take ``cost`` bytes of memory from the budget."""
        self._budget -= cost
        if self._budget < 0:
            raise Fault("shared offsets make this larger than any honest file", at)

    def note_unknown(self, table: type[Table], field: str, at: int) -> None:
        """Remember the first place where something of a newer schema was seen."""
        key = table.__name__, field
        self.unknown.setdefault(key, UnknownField(*key, at))

    def _to_vtable(self, at: int) -> int:
        try:
            offset: int = _I32(self.buffer, at)[0]
        except struct.error:
            raise Fault("table is past the end", at) from None
        return offset

    def _layout(self, table: type[Table], vtable: int, at: int) -> Layout:
        offsets = read_vtable(self.buffer, vtable)
        self.spend(_LAYOUT_COST * (32 + len(offsets)), vtable)
        for number in unknown_slots(table, offsets):
            self.note_unknown(table, f"slot {number}", at)
        return compile_layout(table, offsets, at)

    def _make_lazy(self, made: Table, layout: Layout, at: int, path: str) -> None:
        prefix = f"{path}." if path else ""
        set_lazy(
            made,
            {
                name: partial(self.load_tables, item, at + offset, prefix + name)
                for name, offset, item in layout.lazy
            },
        )

    def _items(self, item: type[TableT], at: int, count: int, path: str) -> list[TableT]:
        made: list[TableT] = []
        deep = any(isinstance(slot.declared.type, Tables) for slot in slots_of(item))
        read = self.table
        try:
            for offset in struct.unpack_from(f"<{count}I", self.buffer, at):
                if not offset:
                    raise Fault("offset is zero", at)
                made.append(read(item, at + offset, f"{path}[{len(made)}]" if deep else ""))
                at += 4
        except Fault as fault:
            raise fault.under(f"[{len(made)}]") from None
        return made
