"""Tensor data files of early 2025, which have the identifier FT01 too.

Their root has other fields than that of today's ``flat_tensor.fbs``: a tensor alignment, and
tensors that share segments. Read only; what is written is today's format.
"""

from __future__ import annotations

from dataclasses import dataclass

from pteron.dtypes import ScalarType
from pteron.flatbuf import (
    INT8,
    INT32,
    UINT8,
    UINT32,
    UINT64,
    Table,
    scalar,
    string,
    tables,
    vector,
)
from pteron.schema.flat_tensor import NamedData
from pteron.schema.program import DataSegment


@dataclass(slots=True)
class TensorMetadata(Table):
    """A tensor, and where its data begins."""

    fully_qualified_name: str = string("Its key.")
    scalar_type: ScalarType = scalar(INT8, "Element type.", enum=ScalarType)
    sizes: list[int] = vector(INT32, "Shape.")
    dim_order: list[int] = vector(UINT8, "Dimensions from outermost to innermost.")
    segment_index: int = scalar(UINT32, "Index into FlatTensor.segments.")
    offset: int = scalar(UINT64, "Bytes from the beginning of the segment.")


@dataclass(slots=True)
class FlatTensor(Table):
    """The root of an early tensor data file."""

    version: int = scalar(UINT32, "Schema version.")
    tensor_alignment: int = scalar(UINT32, "Bytes to which tensors are aligned.")
    tensors: list[TensorMetadata] = tables(TensorMetadata, "The tensors.")
    segments: list[DataSegment] = tables(DataSegment, "Blobs after the flatbuffer.")
    named_data: list[NamedData] = tables(NamedData, "Blobs that are not tensors.")
