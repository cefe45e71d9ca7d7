"""From a program that describes its segments to parts: the inverse of :mod:`.assemble`."""

from __future__ import annotations

from collections.abc import Sequence

from pteron.files.assemble import packed
from pteron.files.blobs import Blobs
from pteron.files.parts import Parts
from pteron.files.segments import Segment
from pteron.flatbuf import Buffer, clone
from pteron.schema.program import (
    BackendDelegateDataReference,
    DataLocation,
    Program,
    SubsegmentOffsets,
)


def take_apart(program: Program, segments: Sequence[Segment], base_alignment: int) -> Parts:
    """Parts with a program of their own; blobs stay views.

    Raises :class:`~pteron.errors.FormatError` where the program refers to what is not there.
    """
    blobs = Blobs(program, segments)
    own = clone(program)
    constants = blobs.constants()
    inline_constants = program.constant_segment is None and len(program.constant_buffer) > 1
    return Parts(
        own,
        constants or [b""],
        blobs.mutable_data(),
        _payloads(own, blobs),
        blobs.named_data(),
        segment_alignment=min([base_alignment, *(segment.alignment for segment in segments)]),
        constant_alignment=_alignment(program.constant_segment, constants),
        inline_constants=inline_constants,
        inline_delegates=any(len(payload.data) for payload in program.backend_delegate_data),
        base_alignment=base_alignment,
    )


def _payloads(program: Program, blobs: Blobs) -> list[Buffer]:
    """Every payload once; the delegates of ``program`` then refer to this list."""
    places: dict[tuple[int, int], int] = {}
    payloads: list[Buffer] = []
    for delegate in blobs.delegates():
        processed = delegate.table.processed
        if places.setdefault((processed.location, processed.index), len(payloads)) == len(payloads):
            payloads.append(delegate.payload)
    for plan in program.execution_plan:
        for table in plan.delegates:
            index = places[table.processed.location, table.processed.index]
            table.processed = BackendDelegateDataReference(
                location=DataLocation.INLINE, index=index
            )
    return payloads


def _alignment(group: SubsegmentOffsets | None, constants: Sequence[Buffer]) -> int:
    """The alignment with which packing ``constants`` gives the offsets they have, or 16."""
    if group is not None:
        for alignment in (16, 32, 64, 128, 256, 512, 1024, 2048, 4096):
            if packed(constants, alignment)[1] == group.offsets:
                return alignment
    return 16
