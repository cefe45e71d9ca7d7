"""Tensor data files (PTD)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property

from pteron.errors import FormatError
from pteron.files.base import BinaryFile
from pteron.files.early_data import read_flat_tensor
from pteron.files.equal import first_equals
from pteron.files.header import PTD_ROOM, Header, ptd_header, read_ptd_header
from pteron.files.parts import NamedBlob
from pteron.files.segments import (
    Segment,
    align_up,
    as_bytes,
    base_alignment,
    checked_alignment,
    pieces_of,
    place,
    read_segments,
    refuse_overlaps,
)
from pteron.files.source import Source
from pteron.flatbuf import Buffer, Reader, Table, UnknownField, encode
from pteron.schema.flat_tensor import IDENTIFIER, FlatTensor, NamedData


class PTDFile(BinaryFile):
    """Named blobs outside a program, such as weights.

    Args:
        named_data: blobs by key; equal ones are stored once.
        segment_alignment: bytes to which every blob is aligned.
        unknown_fields: fields of a newer schema, of the file that this one is made from.
    """

    _kept = ("flat_tensor", "segments", "_segments_read")
    _header: Header
    _segments_read: Sequence[Segment] | None = None

    def __init__(
        self,
        named_data: Mapping[str, NamedBlob],
        *,
        segment_alignment: int = 128,
        unknown_fields: Sequence[UnknownField] = (),
    ) -> None:
        super().__init__(unknown_fields=unknown_fields)
        blobs = [as_bytes(blob.data) for blob in named_data.values()]
        first = first_equals(blobs)
        index_of = {original: index for index, original in enumerate(dict.fromkeys(first))}
        alignments = dict.fromkeys(index_of, checked_alignment(segment_alignment))
        for original, blob in zip(first, named_data.values(), strict=True):
            alignments[original] = max(alignments[original], checked_alignment(blob.alignment))
        self.segments = [Segment((blobs[i],), alignments[i]) for i in index_of]
        self.flat_tensor = FlatTensor(
            segments=place(self.segments),
            named_data=[
                NamedData(key, index_of[original], blob.tensor_layout)
                for original, (key, blob) in zip(first, named_data.items(), strict=True)
            ],
        )
        self._base_alignment = max([segment_alignment, *alignments.values()])

    @classmethod
    def from_source(cls, source: Source) -> PTDFile:
        """A view of an open file; reads no more than its header. Raises :class:`FormatError`."""
        made = cls.__new__(cls)
        BinaryFile.__init__(made, source)
        made._header = read_ptd_header(source.view)
        made._base_alignment = base_alignment(made._header)
        return made

    @cached_property
    def flat_tensor(self) -> FlatTensor:
        """The root table as the file describes it."""
        return read_flat_tensor(self._reader())

    @cached_property
    def segments(self) -> Sequence[Segment]:
        """The blobs after the flatbuffer, in the order of ``flat_tensor.segments``."""
        self._segments_read = read_segments(self._view(), self._header, self.flat_tensor.segments)
        return self._segments_read

    @property
    def named_data(self) -> dict[str, NamedBlob]:
        """Blobs by key, in place."""
        return {
            entry.key: self._blob(entry, f"named_data[{number}]")
            for number, entry in enumerate(self.flat_tensor.named_data)
        }

    def _blob(self, entry: NamedData, where: str) -> NamedBlob:
        if entry.segment_index >= len(self.segments):
            raise FormatError(
                f"refers to segment {entry.segment_index}, but there are {len(self.segments)}",
                where=where,
            )
        segment = self.segments[entry.segment_index]
        return NamedBlob(segment.data, segment.alignment, entry.tensor_layout)

    def _reader(self) -> Reader:
        return Reader(self._view()[: self._header.flatbuffer_end])

    @property
    def segment_base(self) -> int:
        """Byte from which segment offsets count; 0 where it is not in a file yet, or has none."""
        return self._header.segment_base if self._source else 0

    def _pristine(self) -> tuple[Reader, FlatTensor]:
        reader = self._reader()
        return reader, read_flat_tensor(reader)

    def _decoded(self) -> Table | None:
        return self.__dict__.get("flat_tensor")

    def _blobs_modified(self) -> bool:
        segments = self.__dict__.get("segments")
        return segments is not None and segments is not self._segments_read

    def _encode(self) -> Iterable[Buffer]:
        refuse_overlaps(self.flat_tensor.segments)
        self.flat_tensor.segments = place(self.segments)
        blobs, size = pieces_of(self.segments, self.flat_tensor.segments)
        encoded = encode(self.flat_tensor, IDENTIFIER, header_size=PTD_ROOM)
        base = align_up(encoded.size, self._base_alignment)
        header = ptd_header(Header(encoded.size, base, size)).ljust(PTD_ROOM, b"\0")
        head = bytes(encoded.pieces[0])[:8] + header
        return [head, *encoded.pieces[1:], bytes(base - encoded.size), *blobs]
