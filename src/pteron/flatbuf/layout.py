"""From a vtable to a :class:`Layout`, which reads all of a table's fields at once."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from pteron.flatbuf.declare import Number, Tables, Union
from pteron.flatbuf.faults import Fault
from pteron.flatbuf.table import Slot, Table, slots_of
from pteron.flatbuf.values import Convert, absent, present


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


def read_vtable(buffer: memoryview, vtable: int) -> tuple[int, ...]:
    """Verified offsets of the fields in their table, by slot; 0 for an absent one.

    The size that a vtable gives its tables is not to be relied on: FlatBuffers' Python builder
    shares vtables between tables of different sizes, and verifiers elsewhere do not look at it.
    """
    if vtable < 0 or vtable + 4 > len(buffer):
        raise Fault("vtable is outside the buffer", vtable)
    (length,) = struct.unpack_from("<H", buffer, vtable)
    if vtable + length > len(buffer):
        raise Fault(f"vtable of {length} bytes runs past the end ({len(buffer)})", vtable)
    if length < 4 or length % 2:
        raise Fault(f"vtable has the impossible length {length}", vtable)
    return struct.unpack_from(f"<{length // 2 - 2}H", buffer, vtable + 4)


def unknown_slots(table: type[Table], offsets: tuple[int, ...]) -> Iterator[int]:
    """Slots that are present but that ``table`` does not declare."""
    known = 0
    for slot in slots_of(table)[-1:]:
        known = slot.number + 1 + isinstance(slot.declared.type, Union)
    return (number for number in range(known, len(offsets)) if offsets[number])


def compile_layout(table: type[Table], offsets: tuple[int, ...], at: int) -> Layout:
    """The layout of tables whose fields are at ``offsets``; ``at`` is one of them, for errors."""
    here = [(index, slot, _offset(slot, offsets, at)) for index, slot in enumerate(slots_of(table))]
    stored = sorted((offset, index, *_stored(slot)) for index, slot, offset in here if offset)
    missing = [(index, slot) for index, slot, offset in here if not offset]
    return Layout(
        max([4, *(offset + width for offset, _, _, width in stored)]),
        _unpacker(stored, at),
        tuple(slot.declared.default for _, slot in missing),
        _inverse([index for _, index, _, _ in stored] + [index for index, _ in missing]),
        tuple(_conversions(table, here, offsets)),
        tuple(
            (slot.name, offset, slot.declared.type.table)
            for _, slot, offset in here
            if offset and isinstance(slot.declared.type, Tables)
        ),
    )


def _offset(slot: Slot, offsets: tuple[int, ...], at: int) -> int:
    """Where a field (of a union: its value) is in its table, or 0."""
    number = slot.number + isinstance(slot.declared.type, Union)
    offset = offsets[number] if number < len(offsets) else 0
    if offset and offset < 4:
        raise Fault(f"field at {offset} overlaps its table's head", at).under(slot.name)
    return offset


def _stored(slot: Slot) -> tuple[str, int]:
    """Struct code and size of what is stored in place."""
    kind = slot.declared.type
    return (kind.scalar.code, kind.scalar.size) if isinstance(kind, Number) else ("I", 4)


def _conversions(
    table: type[Table], here: list[tuple[int, Slot, int]], offsets: tuple[int, ...]
) -> Iterator[tuple[int, int, Convert]]:
    for index, slot, offset in here:
        kind = slot.declared.type
        if not offset:
            convert = absent(slot)
        elif isinstance(kind, Tables):
            continue
        else:
            tag = offsets[slot.number] if isinstance(kind, Union) else 0
            convert = present(table, slot, tag - offset if tag else None)
        if convert is not None:
            yield index, offset, convert


def _unpacker(
    stored: list[tuple[int, int, str, int]], at: int
) -> Callable[[memoryview, int], tuple[Any, ...]]:
    """One call that reads all fields; ``stored`` is sorted by offset."""
    codes, end = "<", 0
    for offset, _, code, width in stored:
        if offset < end:
            raise Fault("fields of the table overlap", at)
        codes += f"{offset - end}x{code}"
        end = offset + width
    return struct.Struct(codes).unpack_from


def _inverse(permutation: list[int]) -> tuple[int, ...]:
    return tuple(permutation.index(index) for index in range(len(permutation)))
