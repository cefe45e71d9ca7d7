"""From parts to a program that describes its segments, and those segments.

Segments come in ExecuTorch's order (``exir/_serialize/_program.py``): constants, mutable data,
delegates, named data. Equal blobs are stored once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from pteron.errors import UsageError
from pteron.files.equal import first_equals
from pteron.files.parts import NamedBlob, Parts
from pteron.files.segments import (
    TENSOR_ALIGNMENT,
    Segment,
    align_up,
    as_bytes,
    checked_alignment,
    place,
)
from pteron.files.tensors import is_constant, mutable_segment_index, stored_tensors
from pteron.flatbuf import Buffer, clone
from pteron.schema import program as schema
from pteron.schema.program import DataLocation, Program


def assemble(parts: Parts) -> tuple[Program, list[Segment]]:
    """A program of its own (the given one stays as it is) and the segments it describes.

    Raises :class:`UsageError` for an index, an alignment or a type that is wrong.
    """
    _require_types(parts)
    checked_alignment(parts.constant_alignment, TENSOR_ALIGNMENT)
    for alignment in (
        parts.segment_alignment,
        parts.base_alignment or 1,
        *(blob.alignment for blob in parts.named_data.values()),
    ):
        checked_alignment(alignment)
    assembly = _Assembly(parts)
    assembly.place_constants()
    assembly.place_mutable_data()
    assembly.place_delegates()
    assembly.place_named_data()
    assembly.program.segments = place(assembly.segments)
    return assembly.program, assembly.segments


def _require_types(parts: Parts) -> None:
    _require(parts.program, Program, "program")
    for name in ("constants", "mutable_data", "delegate_payloads"):
        _require(getattr(parts, name), Sequence, name)
    _require(parts.named_data, Mapping, "named_data")
    for key, blob in parts.named_data.items():
        _require(blob, NamedBlob, f"named_data[{key!r}]")


def _require(value: object, kind: type, what: str) -> None:
    if not isinstance(value, kind):
        raise UsageError(f"{what} must be a {kind.__name__}, not a {type(value).__name__}")


class _Assembly:
    """The program and the segments so far."""

    def __init__(self, parts: Parts) -> None:
        self.parts = parts
        self.program = clone(parts.program)
        self.segments: list[Segment] = []

    def _add(self, pieces: Sequence[Buffer], alignment: int = 1) -> int:
        alignment = max(alignment, self.parts.segment_alignment)
        self.segments.append(Segment(tuple(map(as_bytes, pieces)), alignment))
        return len(self.segments) - 1

    def place_constants(self) -> None:
        program = self.program
        program.constant_buffer, program.constant_segment = [], None
        blobs, moved = _distinct([as_bytes(blob) for blob in self.parts.constants or [b""]])
        for tensor in stored_tensors(program):
            if is_constant(tensor):
                tensor.data_buffer_idx = _lookup(moved, tensor.data_buffer_idx, "constants")
        if self.parts.inline_constants:
            program.constant_buffer = [schema.Buffer(storage=blob) for blob in blobs]
            return
        pieces, offsets = packed(blobs, self.parts.constant_alignment)
        index = self._add(pieces, self.parts.constant_alignment)
        program.constant_segment = schema.SubsegmentOffsets(segment_index=index, offsets=offsets)

    def place_mutable_data(self) -> None:
        program, groups = self.program, self._mutable_groups()
        for tensor in stored_tensors(program):
            if not is_constant(tensor):
                which = mutable_segment_index(tensor)
                if which >= len(groups):
                    raise UsageError(
                        f"a tensor refers to mutable data segment {which}, of {len(groups)}"
                    )
                tensor.data_buffer_idx = _lookup(
                    groups[which][1], tensor.data_buffer_idx, "mutable_data"
                )
        program.mutable_data_segments = None
        if any(len(blobs) > 1 for blobs, _ in groups):
            program.mutable_data_segments = [self._mutable_segment(blobs) for blobs, _ in groups]

    def _mutable_groups(self) -> list[tuple[list[Buffer], list[int]]]:
        return [
            _distinct([as_bytes(blob) for blob in group])
            for group in self.parts.mutable_data
            if group
        ]

    def _mutable_segment(self, blobs: Sequence[Buffer]) -> schema.SubsegmentOffsets:
        pieces, offsets = packed(blobs, self.parts.constant_alignment)
        return schema.SubsegmentOffsets(segment_index=self._add(pieces), offsets=offsets)

    def place_delegates(self) -> None:
        payloads = [as_bytes(payload) for payload in self.parts.delegate_payloads]
        first = first_equals(payloads)
        placed: dict[int, schema.BackendDelegateDataReference] = {}
        self.program.backend_delegate_data = []
        for plan in self.program.execution_plan:
            for delegate in plan.delegates:
                if delegate.processed.location != DataLocation.INLINE:
                    raise UsageError(
                        f"{plan.name}: delegate {delegate.id!r} must refer to delegate_payloads"
                        " (processed.location INLINE)"
                    )
                index = _lookup(first, delegate.processed.index, "delegate_payloads")
                if index not in placed:
                    placed[index] = self._payload(payloads[index])
                delegate.processed = clone(placed[index])

    def _payload(self, payload: Buffer) -> schema.BackendDelegateDataReference:
        if len(payload) and not self.parts.inline_delegates:
            return schema.BackendDelegateDataReference(
                location=DataLocation.SEGMENT, index=self._add([payload])
            )
        inline = self.program.backend_delegate_data
        inline.append(schema.BackendDelegateInlineData(data=payload))
        return schema.BackendDelegateDataReference(
            location=DataLocation.INLINE, index=len(inline) - 1
        )

    def place_named_data(self) -> None:
        named = self.parts.named_data
        blobs = list(named.values())
        first = first_equals([as_bytes(blob.data) for blob in blobs])
        alignments: dict[int, int] = {}
        for blob, index in zip(blobs, first, strict=True):
            alignments[index] = max(alignments.get(index, 1), blob.alignment)
        placed = {i: self._add([blobs[i].data], a) for i, a in alignments.items()}
        self.program.named_data = [
            schema.NamedData(key=key, segment_index=placed[index])
            for key, index in zip(named, first, strict=True)
        ] or None


def _lookup(moved: Sequence[int], index: int, what: str) -> int:
    if index >= len(moved):
        raise UsageError(f"the program refers to {what}[{index}], but there are {len(moved)}")
    return moved[index]


def _distinct(blobs: Sequence[Buffer]) -> tuple[list[Buffer], list[int]]:
    """The blobs without repetitions, and for each given one its new index; index 0 stays."""
    kept: list[Buffer] = []
    moved: list[int] = []
    first = [0, *(1 + i for i in first_equals(blobs[1:]))]
    for index, original in enumerate(first):
        if index == original:
            moved.append(len(kept))
            kept.append(blobs[index])
        else:
            moved.append(moved[original])
    return kept, moved


def packed(blobs: Sequence[Buffer], alignment: int) -> tuple[list[Buffer], list[int]]:
    """Pieces of a segment that holds all ``blobs``, and the offset of each."""
    pieces: list[Buffer] = []
    offsets: list[int] = []
    end = 0
    for blob in blobs:
        offset = align_up(end, alignment)
        pieces += [bytes(offset - end), blob]
        offsets.append(offset)
        end = offset + len(blob)
    return pieces, offsets
