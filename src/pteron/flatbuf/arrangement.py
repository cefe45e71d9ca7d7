"""Where the fields of a table that is written go, and the vtable that says so."""

from __future__ import annotations

import struct
from dataclasses import dataclass

from pteron.flatbuf.declare import Number, Union
from pteron.flatbuf.table import Table, slots_of


@dataclass(frozen=True)
class Arrangement:
    """Where the fields of one shape of table go."""

    size: int
    alignment: int
    struct: struct.Struct
    order: tuple[int, ...]
    """For each value of the struct: 0 the vtable, then the fields as numbered."""
    offsets: tuple[int, ...]
    vtable: bytes


def arrange(table: type[Table], numbers: tuple[int, ...]) -> Arrangement:
    """Largest fields first, smaller ones in the gaps."""
    kinds = _codes(table)
    free = 4
    taken: dict[int, int] = {}  # offset -> index in ``numbers``
    used = {0, 1, 2, 3}
    for index in sorted(range(len(numbers)), key=lambda i: -kinds[numbers[i]][1]):
        width = kinds[numbers[index]][1]
        at = next(at for at in range(0, 4 + 16 * len(numbers), width) if at not in used)
        taken[at] = index
        used.update(range(at, at + width))
        free = max(free, at + width)
    codes, end, order = "<i", 4, [0]
    for at in sorted(taken):
        code, width = kinds[numbers[taken[at]]]
        codes += f"{at - end}x{code}"
        end = at + width
        order.append(taken[at] + 1)
    where = {numbers[index]: at for at, index in taken.items()}
    entries = [where.get(number, 0) for number in range(max(numbers, default=-1) + 1)]
    vtable = struct.pack(f"<HH{len(entries)}H", 4 + 2 * len(entries), free, *entries)
    alignment = max([4, *(kinds[number][1] for number in numbers)])
    return Arrangement(
        free,
        alignment,
        struct.Struct(codes),
        tuple(order),
        tuple(where[number] for number in numbers),
        vtable,
    )


def _codes(table: type[Table]) -> dict[int, tuple[str, int]]:
    """Slot number -> struct code and size of what is stored in place."""
    codes: dict[int, tuple[str, int]] = {}
    for slot in slots_of(table):
        kind = slot.declared.type
        if isinstance(kind, Number):
            codes[slot.number] = kind.scalar.code, kind.scalar.size
        elif isinstance(kind, Union):
            codes[slot.number] = "B", 1
            codes[slot.number + 1] = "I", 4
        else:
            codes[slot.number] = "I", 4
    return codes
