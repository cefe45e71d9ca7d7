"""Program files with whatever segment table one likes."""

from __future__ import annotations

from pteron.files.header import Header, pte_header
from pteron.flatbuf import encode
from pteron.schema.program import IDENTIFIER, DataSegment, Program


def program_with(*segments: tuple[int, int], room: int = 512) -> bytes:
    """A program whose segments have the given offsets and sizes, and ``room`` bytes for them."""
    table = [DataSegment(offset, size) for offset, size in segments]
    encoded = encode(Program(segments=table), IDENTIFIER, header_size=32)
    data = b"".join(encoded.pieces)
    header = pte_header(Header(len(data), len(data), room))
    return data[:8] + header + data[40:] + bytes(room)
