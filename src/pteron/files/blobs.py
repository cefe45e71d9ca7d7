"""Where a program's constants, initial values, payloads and named data are, in place."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence

from pteron.errors import FormatError
from pteron.files.methods import Delegate
from pteron.files.parts import NamedBlob
from pteron.files.segments import Segment
from pteron.files.tensors import (
    byte_size,
    is_constant,
    is_external,
    mutable_segment_index,
    stored_tensors,
)
from pteron.schema.program import DataLocation, ExecutionPlan, Program, SubsegmentOffsets, Tensor


class Blobs:
    """Reads the blobs of a program out of its segments and tables."""

    def __init__(self, program: Program, segments: Sequence[Segment]) -> None:
        self._program = program
        self._segments = segments

    def segment(self, index: int, where: str) -> memoryview:
        """Bytes of a segment; ``where`` refers to it."""
        if index >= len(self._segments):
            raise FormatError(
                f"refers to segment {index}, but there are {len(self._segments)}", where=where
            )
        return self._segments[index].data

    # Tensors

    def of_tensor(self, tensor: Tensor) -> memoryview | None:
        """A tensor's constant or initial value, or ``None`` where the file has none."""
        if not tensor.data_buffer_idx or is_external(tensor):
            return None
        data = self._rest(tensor)
        size = byte_size(tensor)
        if size > len(data):
            raise FormatError(
                f"needs {size} bytes, but only {len(data)} follow", where=_where(tensor)
            )
        return data[:size]

    def _rest(self, tensor: Tensor) -> memoryview:
        """From where a tensor's data begins to the end of what holds it."""
        program, index, where = self._program, tensor.data_buffer_idx, _where(tensor)
        if not is_constant(tensor):
            groups = program.mutable_data_segments or []
            which = mutable_segment_index(tensor)
            if which >= len(groups):
                raise FormatError(f"there is no mutable data segment {which}", where=where)
            return self._after(groups[which], index, where)
        if program.constant_segment is not None and program.constant_segment.offsets:
            return self._after(program.constant_segment, index, where)
        if index >= len(program.constant_buffer):
            raise FormatError(f"there are {len(program.constant_buffer)} constants", where=where)
        return memoryview(program.constant_buffer[index].storage)

    def _after(self, group: SubsegmentOffsets, index: int, where: str) -> memoryview:
        if index >= len(group.offsets):
            raise FormatError(f"there are {len(group.offsets)} offsets", where=where)
        data = self.segment(group.segment_index, where)
        offset = group.offsets[index]
        if offset > len(data):
            raise FormatError(f"offset {offset} is past its segment ({len(data)})", where=where)
        return data[offset:]

    def constants(self) -> list[memoryview]:
        """Every constant by index; entry 0 is reserved."""
        group = self._program.constant_segment
        if group is None or not group.offsets:
            return [memoryview(buffer.storage) for buffer in self._program.constant_buffer]
        tensors = [t for t in stored_tensors(self._program) if is_constant(t)]
        return self._group(group, tensors, "constant_segment")

    def mutable_data(self) -> list[list[memoryview]]:
        """Initial values by index, for each mutable data segment; entry 0 is reserved."""
        tensors = [t for t in stored_tensors(self._program) if not is_constant(t)]
        return [
            self._group(
                group,
                [t for t in tensors if mutable_segment_index(t) == which],
                f"mutable_data_segments[{which}]",
            )
            for which, group in enumerate(self._program.mutable_data_segments or [])
        ]

    def _group(
        self, group: SubsegmentOffsets, tensors: list[Tensor], where: str
    ) -> list[memoryview]:
        """Blobs of a segment: as large as their tensors, or up to the next one."""
        data = self.segment(group.segment_index, where)
        sizes = {0: 0} | {tensor.data_buffer_idx: byte_size(tensor) for tensor in tensors}
        starts = sorted({*group.offsets, len(data)})
        blobs = []
        for index, offset in enumerate(group.offsets):
            room = starts[min(bisect_right(starts, offset), len(starts) - 1)] - offset
            end = offset + sizes.get(index, max(room, 0))
            if end > len(data):
                raise FormatError(
                    f"ends at {end}, past its segment ({len(data)})",
                    where=f"{where}.offsets[{index}]",
                )
            blobs.append(data[offset:end])
        return blobs

    # Payloads and named data

    def delegates(self) -> Iterator[Delegate]:
        """Every delegate of every method."""
        for number, plan in enumerate(self._program.execution_plan):
            yield from self._delegates_of(plan, f"execution_plan[{number}]")

    def _delegates_of(self, plan: ExecutionPlan, where: str) -> Iterator[Delegate]:
        inline = self._program.backend_delegate_data
        for index, table in enumerate(plan.delegates):
            place, at = table.processed, f"{where}.delegates[{index}].processed"
            if place.location == DataLocation.SEGMENT:
                payload = self.segment(place.index, at)
            elif place.index < len(inline):
                payload = memoryview(inline[place.index].data)
            else:
                raise FormatError(f"index {place.index} of {len(inline)} payloads", where=at)
            yield Delegate(plan.name, index, table, payload)

    def named_data(self) -> dict[str, NamedBlob]:
        """Named blobs by key, with the alignments of their segments."""
        return {
            entry.key: NamedBlob(
                self.segment(entry.segment_index, f"named_data[{number}]"),
                self._segments[entry.segment_index].alignment,
            )
            for number, entry in enumerate(self._program.named_data or [])
        }


def _where(tensor: Tensor) -> str:
    info = tensor.extra_tensor_info
    name = f" {info.fully_qualified_name!r}" if info and info.fully_qualified_name else ""
    return f"tensor{name} with data_buffer_idx {tensor.data_buffer_idx}"
