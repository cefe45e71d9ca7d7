"""Program files (PTE)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from typing import Any

from pteron.files.apart import take_apart
from pteron.files.assemble import assemble
from pteron.files.base import BinaryFile
from pteron.files.blobs import Blobs
from pteron.files.header import Header, pte_header, read_pte_header
from pteron.files.methods import Delegate, Method
from pteron.files.parts import NamedBlob, Parts
from pteron.files.segments import (
    Segment,
    align_up,
    base_alignment,
    pieces_of,
    place,
    read_segments,
    refuse_overlaps,
)
from pteron.files.source import Source
from pteron.flatbuf import Buffer, Reader, Table, UnknownField, encode
from pteron.schema.program import IDENTIFIER, BackendDelegateInlineData, Program, Tensor
from pteron.schema.program import Buffer as InlineConstant

_HEADER_SIZE = 32


class PTEFile(BinaryFile):
    """An ExecuTorch program with its segments, opened from a file or built from objects.

    The arguments are those of :class:`Parts`; ``mutable_data`` may also be one list of blobs.
    The given program is copied, and its tables of segments are filled in the copy.

    Attributes:
        lowering_report: what lowering did, where this file was just lowered.
    """

    lowering_report: Any = None
    _kept = ("program", "segments", "_segments_read")
    _header: Header
    _segments_read: Sequence[Segment] | None = None

    def __init__(
        self,
        program: Program,
        *,
        constants: Sequence[Buffer] = (b"",),
        mutable_data: Sequence[Buffer] | Sequence[Sequence[Buffer]] = (),
        delegate_payloads: Sequence[Buffer] = (),
        named_data: Mapping[str, NamedBlob] | None = None,
        segment_alignment: int = 128,
        constant_alignment: int = 16,
        inline_constants: bool = False,
        inline_delegates: bool = False,
        unknown_fields: Sequence[UnknownField] = (),
        base_alignment: int | None = None,
    ) -> None:
        super().__init__(unknown_fields=unknown_fields)
        parts = Parts(
            program,
            constants,
            _grouped(mutable_data),
            delegate_payloads,
            named_data or {},
            segment_alignment,
            constant_alignment,
            inline_constants,
            inline_delegates,
            base_alignment=base_alignment,
        )
        self.program, segments = assemble(parts)
        self.segments = segments
        if base_alignment is None:
            base_alignment = max([1, *(segment.alignment for segment in segments)])
        self._base_alignment = max(segment_alignment, base_alignment)
        self._inline_alignment = constant_alignment

    @classmethod
    def from_source(cls, source: Source) -> PTEFile:
        """A view of an open file; reads no more than its header. Raises :class:`FormatError`."""
        made = cls.__new__(cls)
        BinaryFile.__init__(made, source)
        made._header = read_pte_header(source.view)
        made._base_alignment = base_alignment(made._header)
        made._inline_alignment = 16
        return made

    # What the file says

    @cached_property
    def program(self) -> Program:
        """The program as the file describes it, to be read and modified."""
        return self._reader().root(Program)

    @cached_property
    def segments(self) -> Sequence[Segment]:
        """The blobs after the flatbuffer, in the order of ``program.segments``."""
        self._segments_read = read_segments(self._view(), self._header, self.program.segments)
        return self._segments_read

    # What it means

    @property
    def methods(self) -> dict[str, Method]:
        """Methods by name."""
        return {plan.name: Method(plan) for plan in self.program.execution_plan}

    @property
    def delegates(self) -> list[Delegate]:
        """Every delegate of every method, with its payload in place."""
        return list(self._blobs().delegates())

    @property
    def constants(self) -> list[memoryview]:
        """Constants by index, in place; entry 0 is reserved."""
        return self._blobs().constants()

    @property
    def mutable_data(self) -> list[memoryview]:
        """Initial values by index, in place, of the first mutable data segment."""
        return next(iter(self._blobs().mutable_data()), [])

    @property
    def named_data(self) -> dict[str, NamedBlob]:
        """Named blobs by key, in place."""
        return self._blobs().named_data()

    def data_of(self, tensor: Tensor) -> memoryview | None:
        """A tensor's constant or initial value, in place, or ``None`` where the file has none."""
        return self._blobs().of_tensor(tensor)

    def parts(self) -> Parts:
        """The program and its blobs apart, to be edited: ``PTEFile(**vars(parts))`` joins them."""
        parts = take_apart(self.program, self.segments, self._base_alignment)
        return replace(parts, unknown_fields=self.unknown_fields)

    def _blobs(self) -> Blobs:
        return Blobs(self.program, self.segments)

    # Reading and writing

    def _reader(self) -> Reader:
        return Reader(self._view()[: self._header.flatbuffer_end])

    @property
    def segment_base(self) -> int:
        """Byte from which segment offsets count; 0 where it is not in a file yet, or has none."""
        return self._header.segment_base if self._source else 0

    def _pristine(self) -> tuple[Reader, Program]:
        reader = self._reader()
        return reader, reader.root(Program)

    def _decoded(self) -> Table | None:
        return self.__dict__.get("program")

    def _blobs_modified(self) -> bool:
        segments = self.__dict__.get("segments")
        return segments is not None and segments is not self._segments_read

    def _encode(self) -> Iterable[Buffer]:
        refuse_overlaps(self.program.segments)
        self.program.segments = place(self.segments)
        blobs, size = pieces_of(self.segments, self.program.segments)
        header_size = _HEADER_SIZE if size else 0
        alignments: dict[type[Table], int] = {
            InlineConstant: self._inline_alignment,
            BackendDelegateInlineData: self._inline_alignment,
        }
        encoded = encode(self.program, IDENTIFIER, header_size=header_size, alignments=alignments)
        if not size:
            return encoded.pieces
        base = align_up(encoded.size, self._base_alignment)
        head = bytes(encoded.pieces[0])[:8] + pte_header(Header(encoded.size, base, size))
        return [head, *encoded.pieces[1:], bytes(base - encoded.size), *blobs]


def _grouped(blobs: Any) -> Sequence[Sequence[Buffer]]:
    """Several segments' blobs; a flat list is one segment; anything else is refused later."""
    flat = isinstance(blobs, Sequence) and not all(isinstance(b, (list, tuple)) for b in blobs)
    return [blobs] if flat else blobs
