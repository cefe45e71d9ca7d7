"""Reading tensor data files of early 2025 as if they were of today."""

from __future__ import annotations

import math

from pteron.dtypes import itemsize
from pteron.errors import FormatError
from pteron.flatbuf import Reader, clone
from pteron.schema import flat_tensor_early as early
from pteron.schema.flat_tensor import FlatTensor, NamedData, TensorLayout
from pteron.schema.program import DataSegment

_SEGMENTS_SLOT = 3


def read_flat_tensor(reader: Reader) -> FlatTensor:
    """The root table; one of the early kind is turned into today's, a segment for each tensor."""
    slots = reader.root_slots()
    if len(slots) <= _SEGMENTS_SLOT or not slots[_SEGMENTS_SLOT]:
        return reader.root(FlatTensor)
    return _modern(reader.root(early.FlatTensor))


def _modern(root: early.FlatTensor) -> FlatTensor:
    modern = FlatTensor(version=root.version)
    for number, tensor in enumerate(root.tensors):
        where = f"tensors[{number}]"
        layout = TensorLayout(tensor.scalar_type, tensor.sizes, tensor.dim_order)
        _add(modern, tensor.fully_qualified_name, _place(root, tensor, where), layout)
    for number, entry in enumerate(root.named_data):
        _add(modern, entry.key, _segment(root, entry.segment_index, f"named_data[{number}]"), None)
    return modern


def _add(modern: FlatTensor, key: str, place: DataSegment, layout: TensorLayout | None) -> None:
    modern.named_data.append(NamedData(key, len(modern.segments), layout))
    modern.segments.append(place)


def _segment(root: early.FlatTensor, index: int, where: str) -> DataSegment:
    if index >= len(root.segments):
        raise FormatError(f"refers to segment {index} of {len(root.segments)}", where=where)
    return clone(root.segments[index])


def _place(root: early.FlatTensor, tensor: early.TensorMetadata, where: str) -> DataSegment:
    segment = _segment(root, tensor.segment_index, where)
    size = math.prod(tensor.sizes) * itemsize(tensor.scalar_type)
    if not 0 <= size <= segment.size - tensor.offset:
        raise FormatError(
            f"offset {tensor.offset} + size {size} is past its segment ({segment.size})",
            where=where,
        )
    return DataSegment(segment.offset + tensor.offset, size)
