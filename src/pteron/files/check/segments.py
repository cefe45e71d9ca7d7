"""Segments: where they lie, and what refers to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import pairwise

from pteron.files.check.finding import Finding, error, note, warning
from pteron.files.program_file import PTEFile
from pteron.files.segments import TENSOR_ALIGNMENT
from pteron.schema.program import DataLocation, DataSegment, Program, SubsegmentOffsets


def check_segments(file: PTEFile) -> Iterator[Finding]:
    """Overlaps, order, alignment, and references from the program."""
    program = file.program
    yield from check_layout(program.segments, file.segment_base)
    yield from _check_references(program)
    yield from _check_offsets(program)


def check_layout(table: Sequence[DataSegment], base: int) -> Iterator[Finding]:
    """Segments that overlap, are misaligned or out of order; of a PTD file as well."""
    places = sorted((entry.offset, entry.size, index) for index, entry in enumerate(table))
    filled = [place for place in places if place[1]]
    for (start, size, one), (following, _, other) in pairwise(filled):
        if start + size > following:
            yield error(f"segments[{other}]", f"overlaps segments[{one}]")
    if [index for _, _, index in filled] != sorted(index for _, _, index in filled):
        yield warning("segments", "are not sorted by offset")
    for start, _, index in filled:
        if (base + start) % TENSOR_ALIGNMENT:
            yield error(
                f"segments[{index}]", f"offset {base + start} is not a multiple of 16 bytes"
            )


def _references_of(program: Program) -> Iterator[tuple[str, int]]:
    if program.constant_segment is not None and program.constant_segment.offsets:
        yield "constant_segment.segment_index", program.constant_segment.segment_index
    for number, group in enumerate(program.mutable_data_segments or []):
        yield f"mutable_data_segments[{number}].segment_index", group.segment_index
    for number, named in enumerate(program.named_data or []):
        yield f"named_data[{number}].segment_index", named.segment_index
    for number, plan in enumerate(program.execution_plan):
        for index, delegate in enumerate(plan.delegates):
            if delegate.processed.location == DataLocation.SEGMENT:
                where = f"execution_plan[{number}].delegates[{index}].processed.index"
                yield where, delegate.processed.index


def _check_references(program: Program) -> Iterator[Finding]:
    count, used = len(program.segments), set()
    for where, index in _references_of(program):
        if index >= count:
            yield error(where, f"segment {index} of {count}")
        used.add(index)
    for index, entry in enumerate(program.segments):
        if entry.size and index not in used:
            yield note(f"segments[{index}]", f"nothing refers to its {entry.size} bytes")
    groups = [group.segment_index for group in program.mutable_data_segments or []]
    if len(set(groups)) != len(groups):
        yield error("mutable_data_segments", "two of them are in the same segment")


def _check_offsets(program: Program) -> Iterator[Finding]:
    constants = program.constant_segment
    if constants is not None and constants.offsets:
        if len(program.constant_buffer) > 1:
            yield error("constant_buffer", "constants are both inline and in a segment")
        yield from _check_group(constants, program, "constant_segment", TENSOR_ALIGNMENT)
    for number, group in enumerate(program.mutable_data_segments or []):
        yield from _check_group(group, program, f"mutable_data_segments[{number}]", 1)


def _check_group(
    group: SubsegmentOffsets, program: Program, where: str, alignment: int
) -> Iterator[Finding]:
    if group.segment_index >= len(program.segments):
        return  # found already
    size = program.segments[group.segment_index].size
    for index, offset in enumerate(group.offsets):
        if offset > size:
            yield error(f"{where}.offsets[{index}]", f"{offset} is past its segment ({size})")
        elif offset % alignment:
            yield error(f"{where}.offsets[{index}]", f"{offset} is not a multiple of {alignment}")
