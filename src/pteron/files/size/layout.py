"""The frame that PTE and PTD files share: header, tables, and segments behind them."""

from __future__ import annotations

import struct
from collections.abc import Iterable, Sequence
from dataclasses import replace

from pteron.files.header import AT, Header
from pteron.files.positions import offset_in
from pteron.payloads import Part
from pteron.payloads.parts import fill
from pteron.schema.program import DataSegment

Blob = tuple[memoryview, Part]
"""Bytes somewhere in a file, and what they are; the part's offsets count from the blob's start."""


def placed(blobs: Iterable[Blob], view: memoryview) -> list[Part]:
    """The parts with their offsets in ``view``; those that lie elsewhere are left out."""
    places = ((offset_in(data, view), part) for data, part in blobs)
    return [part.moved(offset) for offset, part in places if offset is not None]


def framed(
    name: str,
    view: memoryview,
    header: Header,
    segments: Sequence[DataSegment],
    uses: dict[int, str],
    blobs: Sequence[Part],
) -> Part:
    """A file as header, tables with what is inside them, and segments with what is in them."""
    flatbuffer = _flatbuffer(view, header, blobs)
    found = [
        _segment(uses.get(index, f"segment {index}, unused"), header, segment, blobs)
        for index, segment in enumerate(segments)
    ]
    return Part(name, "file", 0, len(view), children=fill([flatbuffer, *found], 0, len(view)))


def tables(parts: Iterable[Part], end: int) -> tuple[Part, ...]:
    """``parts`` inside a FlatBuffer, and all that is between them."""
    return fill(parts, 0, end, name="tables", kind="tables")


def _flatbuffer(view: memoryview, header: Header, blobs: Sequence[Part]) -> Part:
    """Magic, length and numbers of a header stand behind the root offset and the identifier."""
    length = AT
    if header.flatbuffer_end < len(view) or header.segment_base:
        length += struct.unpack_from("<I", view, AT + 4)[0]
    end = header.flatbuffer_end
    head = Part("header", "header", 0, min(length, end))
    inside = [blob for blob in blobs if blob.offset + blob.size <= end]
    return Part("flatbuffer", "flatbuffer", 0, end, children=tables([head, *inside], end))


def _segment(use: str, header: Header, segment: DataSegment, blobs: Sequence[Part]) -> Part:
    start = header.segment_base + segment.offset
    end = start + segment.size
    inside = fill([b for b in blobs if start <= b.offset and b.offset + b.size <= end], start, end)
    if len(inside) == 1 and inside[0].kind != "padding":
        return replace(inside[0], name=use)
    return Part(use, "segment", start, segment.size, children=inside)
