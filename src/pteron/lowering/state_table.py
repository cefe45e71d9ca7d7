"""The state plan as a table for people."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pteron.lowering.accesses import Access
    from pteron.lowering.state import BufferRecord


def lines(records: Sequence[BufferRecord]) -> list[str]:
    """A row for each written buffer, below it what reads and writes it; then the constants.

    Buffers that differ in nothing but numbers in their names, as those of many layers do, share
    a row.
    """
    groups: dict[object, list[BufferRecord]] = {}
    for record in records:
        if record.writes:
            groups.setdefault(_kind(record), []).append(record)
    rows = [("buffer", "type", "first value", "owner", "reason")]
    rows += [_row(group) for group in groups.values()]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    table = ["  ".join([*map(str.ljust, row, widths), row[4]]) for row in rows]
    several = len({access.method for record in records for access in record.accesses()}) > 1
    out = table[:1] if groups else []
    for row, group in zip(table[1:], groups.values(), strict=True):
        out += [row, *_details(group[0], several)]
    constant = [record.name for record in records if not record.writes]
    return out + ([f"never written: {', '.join(constant)}"] if constant else [])


def _kind(record: BufferRecord) -> object:
    accesses = tuple(str(access) for access in record.accesses())
    name, aliases = (re.sub(r"\d+", "0", text) for text in (record.name, str(record.aliases)))
    return name, aliases, _type(record), record.first, record.owner, record.reason, accesses


def _row(group: Sequence[BufferRecord]) -> tuple[str, str, str, str, str]:
    record = group[0]
    name = record.name if len(group) == 1 else f"{record.name} to {group[-1].name} ({len(group)})"
    owner = record.owner.value if record.owner else "undecided"
    return name, _type(record), record.first, owner, record.reason


def _type(record: BufferRecord) -> str:
    return f"{record.dtype} {'x'.join(map(str, record.shape)) or 'scalar'}"


def _details(record: BufferRecord, several: bool) -> list[str]:
    details = [f"  also named {', '.join(record.aliases)}"] if record.aliases else []
    both = [access for access in record.writes if access in record.reads]
    details += _counted("updated by", both, several)
    details += _counted("written by", [a for a in record.writes if a not in both], several)
    details += _counted("read by", [a for a in record.reads if a not in both], several)
    return [*details, f"  in {', '.join(record.partitions)}"] if record.partitions else details


def _counted(verb: str, accesses: Iterable[Access], several: bool) -> list[str]:
    texts = [f"{a.method}: {a}" if several else str(a) for a in accesses]
    counts = {text: texts.count(text) for text in texts}
    return [f"  {verb} {text}" + (f" (x{n})" if n > 1 else "") for text, n in counts.items()]
