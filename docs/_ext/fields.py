"""Fixed fields at the start of each format, read from a file: name, place and value of each."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass

from pteron.payloads import Part

_SIZES = {"u32": ("<I", 4), "u64": ("<Q", 8)}


@dataclass(frozen=True)
class Field:
    """A run of bytes with a name; ``value`` is what the bytes say, or ``""``."""

    offset: int
    size: int
    name: str
    value: str = ""


def read_fields(data: bytes, layout: Sequence[tuple[str, str]], start: int = 0) -> list[Field]:
    """Consecutive fields from ``start`` on. A kind is ``u32``, ``u64``, ``text`` or ``zeros:N``."""
    fields = []
    for name, kind in layout:
        kind, _, length = kind.partition(":")
        if kind in _SIZES:
            code, size = _SIZES[kind]
            value = f"{struct.unpack_from(code, data, start)[0]:,}"
        elif kind == "text":
            size = 4
            value = data[start : start + 4].decode("ascii")
        else:
            size, value = int(length), ""
            if any(data[start : start + size]):
                raise ValueError(f"{name} at {start} is not all zeros")
        fields.append(Field(start, size, name, value))
        start += size
    return fields


PTE = [
    ("offset of the root table", "u32"),
    ("identifier", "text"),
    ("header magic", "text"),
    ("header length", "u32"),
    ("program size", "u64"),
    ("segment base", "u64"),
    ("segment data size", "u64"),
]
PTD = [
    ("offset of the root table", "u32"),
    ("identifier", "text"),
    ("header magic", "text"),
    ("header length", "u32"),
    ("flatbuffer offset", "u64"),
    ("flatbuffer size", "u64"),
    ("segment base", "u64"),
    ("segment data size", "u64"),
]
BPTE = [("offset of the root table", "u32"), ("identifier", "text")]
WEIGHTS = [
    ("number of blobs", "u32"),
    ("version", "u32"),
    ("reserved", "zeros:56"),
    ("sentinel 0xDEADBEEF", "u32"),
    ("data type", "u32"),
    ("size in bytes", "u64"),
    ("offset of the data", "u64"),
    ("unused bits", "u64"),
    ("reserved", "zeros:32"),
]


def embedded_program(bundle: bytes, program: bytes) -> list[Field]:
    """The program inside a bundle: its length, and its first bytes."""
    start = bundle.index(program)
    fields = read_fields(bundle, [("length of the program", "u32")], start - 4)
    return fields + [
        Field(field.offset, field.size, f"program: {field.name}", field.value)
        for field in read_fields(bundle, PTE[:3], start)
    ]


def leaves(part: Part, depth: int) -> list[Field]:
    """The parts of a file, ``depth`` levels down at most, in order of offset."""
    if depth == 0 or not part.children:
        return [Field(part.offset, part.size, part.name, _what(part))]
    return [field for child in part.children for field in leaves(child, depth - 1)]


def _what(part: Part) -> str:
    kind = part.kind if part.kind != part.name else ""
    type_ = part.dtype + (str(list(part.shape)) if part.shape is not None else "")
    return ", ".join(text for text in (kind, type_, part.note) if text)
