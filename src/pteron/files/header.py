"""The headers that stand between a FlatBuffer's identifier and its tables.

Layout as in ExecuTorch's ``schema/extended_header.cpp`` (PTE) and
``extension/flat_tensor/serialize/flat_tensor_header.cpp`` (PTD); all numbers are little-endian.
"""

from __future__ import annotations

import struct
from dataclasses import dataclass

from pteron.errors import FormatError

AT = 8
"""Byte at which a header begins, after the root offset and the identifier."""

_PTE_MAGIC, _PTE_SHORT, _PTE_LENGTH = b"eh00", 24, 32
_PTD_MAGIC, _PTD_LENGTH = b"FH01", 40
PTD_ROOM = 48
"""Bytes that the header of a PTD file takes with its padding."""


@dataclass(frozen=True)
class Header:
    """What a file says of its own parts.

    Attributes:
        flatbuffer_end: end of the FlatBuffer in the file; it begins at byte 0.
        segment_base: where segment offsets count from; 0 where there are no segments.
        segment_size: bytes of all segments, or 0 where the header does not say (24-byte headers).
    """

    flatbuffer_end: int
    segment_base: int
    segment_size: int

    def verified(self, size: int) -> Header:
        """Itself, or a :class:`FormatError` if it does not fit a file of ``size`` bytes."""
        if not AT < self.flatbuffer_end <= size:
            raise _past("program", self.flatbuffer_end, size)
        if self.segment_base and not self.flatbuffer_end <= self.segment_base:
            raise FormatError(
                f"segments begin at {self.segment_base}, inside the program"
                f" ({self.flatbuffer_end} bytes)",
                where="header",
                offset=AT,
            )
        if self.segment_base + self.segment_size > size:
            raise _past("segment data", self.segment_base + self.segment_size, size)
        return self


def _past(what: str, end: int, size: int) -> FormatError:
    return FormatError(
        f"{what} ends at {end}, past the end of the file ({size}): the file is truncated",
        where="header",
        offset=AT,
    )


def read_pte_header(view: memoryview) -> Header:
    """The extended header; a file without one is all FlatBuffer and has no segments."""
    if len(view) < AT + 8 or view[AT : AT + 4] != _PTE_MAGIC:
        return Header(len(view), 0, 0)
    (length,) = struct.unpack_from("<I", view, AT + 4)
    if length < _PTE_SHORT or len(view) < AT + length:
        raise FormatError(f"has the impossible length {length}", where="header", offset=AT + 4)
    program_size, base = struct.unpack_from("<QQ", view, AT + 8)
    size = struct.unpack_from("<Q", view, AT + 24)[0] if length >= _PTE_LENGTH else 0
    return Header(program_size, base, size).verified(len(view))


def read_ptd_header(view: memoryview) -> Header:
    """The header of a PTD file, which always has one."""
    if len(view) < AT + _PTD_LENGTH or view[AT : AT + 4] != _PTD_MAGIC:
        raise FormatError("a PTD file needs a header (FH01)", where="header", offset=AT)
    length, offset, size, base, data = struct.unpack_from("<IQQQQ", view, AT + 4)
    if length < _PTD_LENGTH:
        raise FormatError(f"has the impossible length {length}", where="header", offset=AT + 4)
    return Header(offset + size, base, data).verified(len(view))


def pte_header(header: Header) -> bytes:
    """The 32 bytes that go to byte 8 of a PTE file."""
    return struct.pack(
        "<4sIQQQ",
        _PTE_MAGIC,
        _PTE_LENGTH,
        header.flatbuffer_end,
        header.segment_base,
        header.segment_size,
    )


def ptd_header(header: Header) -> bytes:
    """The 40 bytes that go to byte 8 of a PTD file."""
    return struct.pack(
        "<4sIQQQQ",
        _PTD_MAGIC,
        _PTD_LENGTH,
        PTD_ROOM,
        header.flatbuffer_end - PTD_ROOM,
        header.segment_base,
        header.segment_size,
    )
