"""The graph of an XNNPACK payload, identifier XN00 or XN01, declared.

Source: ExecuTorch 1.5's ``backends/xnnpack/serialization/schema.fbs``. Of a node only its kind is
declared; what its fields say is nobody's business here.
"""

from __future__ import annotations

from dataclasses import dataclass, make_dataclass

from pteron.flatbuf import (
    INT32,
    UINT32,
    UINT64,
    Table,
    blob,
    scalar,
    string,
    subtable,
    tables,
    union,
    vector,
)
from pteron.flatbuf.declare import Scalar

IDENTIFIERS = (b"XN00", b"XN01")
NO_OFFSET = 2**64 - 1
"""``ConstantDataOffset.offset`` of a constant that lies in named data."""

INT16 = Scalar("int16", "h", 2)
UINT16 = Scalar("uint16", "H", 2)
FLOAT32 = Scalar("float32", "f", 4)

# enum XNNDatatype: short names, ours where they mean the same
DATA_TYPES = [
    "invalid",
    "float32",
    "float16",
    "qint8",
    "quint8",
    "qint32",
    "qcint8",
    "qcint32",
    "qcint4",
    "qdint8",
    "qbint4",
    "qpint8",
    "int32",
    "pfp32",
    "bfloat16",
]

# union XNodeUnion, in order, each without its prefix
NODE_KINDS = [
    "Add",
    "FullyConnected",
    "Softmax",
    "Sigmoid",
    "StaticTranspose",
    "Clamp",
    "Conv2d",
    "Div",
    "StaticResizeBilinear2D",
    "StaticConstantPad",
    "AvgPooling2d",
    "Minimum",
    "DepthwiseConv2d",
    "MaxPooling2d",
    "Multiply",
    "Subtract",
    "Floor",
    "Convert",
    "GlobalAvgPooling2d",
    "StaticReshape",
    "ArgMaxPooling2d",
    "SquareRoot",
    "Ceiling",
    "Hardswish",
    "LeakyReLU",
    "Maximum",
    "Negate",
    "Square",
    "ELU",
    "Abs",
    "PReLU",
    "Concatenate2",
    "Concatenate3",
    "Concatenate4",
    "StaticSlice",
    "ScaledDotProductAttention",
    "BatchMatrixMultiply",
    "Concatenate5",
    "ConvTranspose2d",
    "ReciprocalSquareRoot",
    "Log",
    "Gelu",
    "Tanh",
    "Exp",
    "Sin",
    "Copy",
    "Cos",
]
_NODE_TABLES = [make_dataclass(name, [], bases=(Table,), slots=True) for name in NODE_KINDS]


@dataclass(slots=True)
class Buffer(Table):
    """A constant inside the flatbuffer (XN00)."""

    storage: memoryview = blob("Its bytes.", alignment=16)


@dataclass(slots=True)
class PerChannelQuant(Table):
    """One scale per channel."""

    scale: list[float] = vector(FLOAT32, "Scales, where they are not a buffer.")
    channel_dim: int = scalar(INT32, "The axis of channels.")
    scale_buffer_idx: int = scalar(UINT32, "Index into XNNGraph.constant_data, or 0.")
    num_scales: int = scalar(UINT32, "Number of scales in that buffer.")


@dataclass(slots=True)
class PerTensorQuant(Table):
    """One scale and zero point."""

    scale: float = scalar(FLOAT32, "Scale.", default=0.0)
    zero_point: int = scalar(INT32, "Zero point.")


@dataclass(slots=True)
class PerTokenDynamicQuant(Table):
    """Quantised at run time."""

    num_nonbatch_dims: int = scalar(INT32, "Axes that share a scale.")


@dataclass(slots=True)
class PerChannelGroupQuant(Table):
    """One scale per group of elements of a channel."""

    scale: list[float] = vector(FLOAT32, "Scales, where they are not a buffer.")
    channel_dim: int = scalar(INT32, "The axis of channels.")
    group_size: int = scalar(INT32, "Elements that share a scale.")
    scale_bf16: list[int] = vector(UINT16, "Scales as bfloat16; deprecated.")
    scale_buffer_idx: int = scalar(UINT32, "Index into XNNGraph.constant_data, or 0.")
    num_scales: int = scalar(UINT32, "Number of scales in that buffer.")


@dataclass(slots=True)
class XNNTensorValue(Table):
    """A tensor of the graph."""

    datatype: int = scalar(INT16, "Index into DATA_TYPES.")
    num_dims: int = scalar(UINT32, "Number of axes.")
    dims: list[int] = vector(UINT32, "Shape.")
    constant_buffer_idx: int = scalar(UINT32, "Index of its constant, 0 if it is none.")
    external_id: int = scalar(UINT32, "Id among the inputs and outputs.")
    flags: int = scalar(UINT32, "1 input, 2 output.")
    id_out: int = scalar(UINT32, "Its id in the graph.")
    dq_datatype: int = scalar(INT16, "Type it is quantised to at run time, 0 if not.")


@dataclass(slots=True)
class XNNQuantizedTensorValue(Table):
    """A tensor with quantisation parameters."""

    tensor_value: XNNTensorValue | None = subtable(XNNTensorValue, "The tensor.")
    quant_params: Table | None = union(
        [PerChannelQuant, PerTensorQuant, PerTokenDynamicQuant, PerChannelGroupQuant],
        "Its quantisation.",
    )


@dataclass(slots=True)
class OutputMinMax(Table):
    """Bounds that a node clamps its output to."""

    output_min: float = scalar(FLOAT32, "Lower bound.", default=0.0)
    output_max: float = scalar(FLOAT32, "Upper bound.", default=0.0)


@dataclass(slots=True)
class XNode(Table):
    """A node of the graph."""

    xnode_union: Table | None = union(_NODE_TABLES, "Its kind is the table's name.")
    debug_handle: int = scalar(UINT32, "Node of the original graph.")
    output_min_max: OutputMinMax | None = subtable(OutputMinMax, "Clamp, where there is one.")


@dataclass(slots=True)
class XValue(Table):
    """A value of the graph."""

    xvalue_union: Table | None = union([XNNTensorValue, XNNQuantizedTensorValue], "The value.")


@dataclass(slots=True)
class ConstantDataOffset(Table):
    """Where a constant is: behind the flatbuffer, or in named data."""

    offset: int = scalar(UINT64, "From the constants' base; NO_OFFSET where it is named.")
    size: int = scalar(UINT64, "Bytes.")
    named_key: str = string("Key in named data, or empty.")


@dataclass(slots=True)
class XNNGraph(Table):
    """The root."""

    version: str = string("Schema version.")
    xnodes: list[XNode] = tables(XNode, "Nodes in order of execution.")
    xvalues: list[XValue] = tables(XValue, "Values.")
    num_externs: int = scalar(UINT32, "Number of inputs and outputs.")
    input_ids: list[int] = vector(UINT32, "Ids (id_out) of the inputs.")
    output_ids: list[int] = vector(UINT32, "Ids (id_out) of the outputs.")
    constant_buffer: list[Buffer] = tables(Buffer, "Constants inside the flatbuffer (XN00).")
    mem_buffer_sizes: list[int] = vector(UINT32, "Sizes of memory buffers.")
    constant_data: list[ConstantDataOffset] = tables(ConstantDataOffset, "Constants elsewhere.")
