"""Tensor data files (PTD), identifier FT01: ``flat_tensor.fbs`` of ExecuTorch 1.5, declared."""

from __future__ import annotations

from dataclasses import dataclass

from pteron.dtypes import ScalarType
from pteron.flatbuf import (
    INT8,
    INT32,
    UINT8,
    UINT32,
    Table,
    scalar,
    string,
    subtable,
    tables,
    vector,
)
from pteron.schema.program import DataSegment

IDENTIFIER = b"FT01"


@dataclass(slots=True)
class TensorLayout(Table):
    """Shape and element type of a named blob that is a tensor."""

    scalar_type: ScalarType = scalar(INT8, "Element type.", enum=ScalarType)
    sizes: list[int] = vector(INT32, "Shape.")
    dim_order: list[int] = vector(UINT8, "Dimensions from outermost to innermost.")


@dataclass(slots=True)
class NamedData(Table):
    """A name for a segment."""

    key: str = string("The name.")
    segment_index: int = scalar(UINT32, "Index into FlatTensor.segments.")
    tensor_layout: TensorLayout | None = subtable(TensorLayout, "Layout, where it is a tensor.")


@dataclass(slots=True)
class FlatTensor(Table):
    """The root of a tensor data file."""

    version: int = scalar(UINT32, "Schema version.")
    segments: list[DataSegment] = tables(DataSegment, "Blobs after the flatbuffer.")
    named_data: list[NamedData] = tables(NamedData, "Names of the segments.")
