"""Segments: the blobs after the flatbuffer, how they are read and where they are put."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise

from pteron.errors import FormatError, UsageError
from pteron.files.header import Header
from pteron.flatbuf import Buffer
from pteron.schema.program import DataSegment

_PLAUSIBLE_ALIGNMENT = 16384
"""Largest alignment (a page of Apple's machines) that is believed without further evidence."""

TENSOR_ALIGNMENT = 16
"""What ExecuTorch aligns segments and constants to, at least (``exir/tensor.py``, ALIGNMENT)."""


@dataclass(frozen=True)
class Segment:
    """One blob, in pieces so that large ones need no copy.

    Attributes:
        pieces: its bytes, in order.
        alignment: of its offset from the segment base; a power of two where it was read.
    """

    pieces: tuple[Buffer, ...]
    alignment: int

    @property
    def size(self) -> int:
        """Bytes of all pieces."""
        return sum(map(len, self.pieces))

    @property
    def data(self) -> memoryview:
        """The bytes in one view; copies only where there are several pieces."""
        whole = self.pieces[0] if len(self.pieces) == 1 else b"".join(self.pieces)
        return memoryview(whole).toreadonly()


def align_up(offset: int, alignment: int) -> int:
    """The next multiple of ``alignment``."""
    return -(-offset // alignment) * alignment


def read_segments(
    view: memoryview, header: Header, table: Sequence[DataSegment]
) -> tuple[Segment, ...]:
    """Every segment as a view of the file. Entries for the very same bytes are the same object.

    Raises :class:`FormatError` for one that is outside the file.
    """
    found: dict[tuple[int, int], Segment] = {}
    segments: list[Segment] = []
    end = 0
    for index, entry in enumerate(table):
        place = entry.offset, entry.size
        if place not in found:
            data = _verified(view, header, index, *place)
            found[place] = Segment((data,), derived_alignment(entry.offset, end, header))
        segments.append(found[place])
        end = entry.offset + entry.size
    return tuple(segments)


def _verified(view: memoryview, header: Header, index: int, offset: int, size: int) -> memoryview:
    start = header.segment_base + offset
    where = f"segments[{index}]"
    if start + size > len(view):
        raise FormatError(
            f"offset {start} + size {size} is past the end of the file ({len(view)})", where=where
        )
    if size and not header.segment_base:
        raise FormatError(f"has {size} bytes, but the file has no segment data", where=where)
    return view[start : start + size]


def derived_alignment(offset: int, previous_end: int, header: Header) -> int:
    """The alignment that a segment seems to have been given; files do not record it.

    It is the largest one that its offset has, up to a page; more only where the gap before the
    segment shows that more was asked for. A rewritten file therefore never aligns a segment less.
    """
    if not offset:
        return base_alignment(header)
    lowest = offset & -offset
    asked = 1 << max(offset - previous_end, 0).bit_length()
    return min(lowest, max(asked, _PLAUSIBLE_ALIGNMENT))


def base_alignment(header: Header) -> int:
    """Alignment of the segment base itself."""
    lowest = header.segment_base & -header.segment_base
    asked = 1 << max(header.segment_base - header.flatbuffer_end, 0).bit_length()
    return min(lowest, max(asked, _PLAUSIBLE_ALIGNMENT)) or 128


def place(segments: Sequence[Segment]) -> list[DataSegment]:
    """Offsets of ``segments`` one after the other; the same object is placed once."""
    placed: dict[int, DataSegment] = {}
    table: list[DataSegment] = []
    end = 0
    for segment in segments:
        entry = placed.get(id(segment))
        if entry is None:
            offset = align_up(end, segment.alignment)
            entry = placed[id(segment)] = DataSegment(offset=offset, size=segment.size)
            end = offset + segment.size
        table.append(DataSegment(offset=entry.offset, size=entry.size))
    return table


def pieces_of(
    segments: Sequence[Segment], table: Sequence[DataSegment]
) -> tuple[list[Buffer], int]:
    """What to write after the segment base, padding included, and its size."""
    pieces: list[Buffer] = []
    end = 0
    for segment, entry in zip(segments, table, strict=True):
        if entry.offset < end:
            continue  # placed already
        pieces.append(bytes(entry.offset - end))
        pieces.extend(segment.pieces)
        end = entry.offset + entry.size
    return pieces, end


def refuse_overlaps(table: Sequence[DataSegment]) -> None:
    """Raise :class:`FormatError` for segments that share bytes without being the same.

    Rewriting would store the shared bytes once for each, without any bound.
    """
    places = sorted({(entry.offset, entry.size) for entry in table if entry.size})
    for (start, size), (following, _) in pairwise(places):
        if start + size > following:
            raise FormatError(
                f"the segments at offsets {start} and {following} overlap: cannot be rewritten"
            )


def as_bytes(buffer: object) -> memoryview:
    """Any contiguous buffer as a read-only view of its bytes. Raises :class:`UsageError`."""
    try:
        view = memoryview(buffer)  # type: ignore[arg-type]
        return view.cast("B").toreadonly() if view.nbytes else memoryview(b"")
    except TypeError as error:
        raise UsageError(f"a {type(buffer).__name__} cannot be stored: {error}") from None


def checked_alignment(alignment: int, least: int = 1) -> int:
    """Itself, or a :class:`UsageError` if it is not a power of two, or below ``least``."""
    if not isinstance(alignment, int) or alignment < 1 or alignment & (alignment - 1):
        raise UsageError(f"alignment {alignment!r} is not a power of two")
    if alignment < least:
        raise UsageError(f"alignment {alignment} is too small: runtimes need {least} at least")
    return alignment
