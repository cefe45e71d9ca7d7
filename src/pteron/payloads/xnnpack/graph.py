"""Tensors and constants of an XNNPACK graph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pteron.errors import FormatError
from pteron.payloads.reader import FunctionSummary, ValueSummary
from pteron.payloads.xnnpack.schema import (
    DATA_TYPES,
    PerChannelGroupQuant,
    PerChannelQuant,
    XNNGraph,
    XNNQuantizedTensorValue,
    XNNTensorValue,
)


@dataclass(frozen=True)
class Use:
    """What a constant is used as: a tensor, or the scales of one.

    Attributes:
        name: ``tensor 3``, ``tensor 3 scales``.
        dtype: element type.
        shape: sizes of its axes.
    """

    name: str
    dtype: str
    shape: tuple[int, ...]


def tensors(graph: XNNGraph) -> Iterator[tuple[XNNTensorValue, object]]:
    """Every value as (tensor, quantisation or ``None``)."""
    for index, value in enumerate(graph.xvalues):
        inner = value.xvalue_union
        if isinstance(inner, XNNQuantizedTensorValue) and inner.tensor_value is not None:
            yield inner.tensor_value, inner.quant_params
        elif isinstance(inner, XNNTensorValue):
            yield inner, None
        else:
            raise FormatError("has no tensor", where=f"xvalues[{index}]")


def uses(graph: XNNGraph) -> dict[int, Use]:
    """Index of a constant -> what it is first used as."""
    found: dict[int, Use] = {}
    for tensor, quantisation in tensors(graph):
        if tensor.constant_buffer_idx:
            use = Use(f"tensor {tensor.id_out}", data_type(tensor), tuple(tensor.dims))
            found.setdefault(tensor.constant_buffer_idx, use)
        if isinstance(quantisation, PerChannelQuant | PerChannelGroupQuant):
            dtype = "float32" if isinstance(quantisation, PerChannelQuant) else "bfloat16"
            scales = Use(f"tensor {tensor.id_out} scales", dtype, (quantisation.num_scales,))
            if quantisation.scale_buffer_idx:
                found.setdefault(quantisation.scale_buffer_idx, scales)
    return found


def data_type(tensor: XNNTensorValue) -> str:
    """Name of the element type; a number newer than the schema is given as it is."""
    number = tensor.datatype
    return DATA_TYPES[number] if 0 <= number < len(DATA_TYPES) else f"data type {number}"


def summarise(graph: XNNGraph, name: str) -> FunctionSummary:
    """Signature and node counts."""
    by_id = {tensor.id_out: tensor for tensor, _ in tensors(graph)}
    kinds = (type(node.xnode_union).__name__ for node in graph.xnodes)
    return FunctionSummary(
        name=name,
        inputs=tuple(_value(by_id, i) for i in graph.input_ids),
        outputs=tuple(_value(by_id, i) for i in graph.output_ids),
        operations=dict(Counter("unknown" if kind == "NoneType" else kind for kind in kinds)),
    )


def _value(by_id: dict[int, XNNTensorValue], number: int) -> ValueSummary:
    if number not in by_id:
        raise FormatError(f"no tensor has the id {number}", where="XNNPACK graph")
    tensor = by_id[number]
    return ValueSummary(f"tensor {number}", data_type(tensor), tuple(tensor.dims))
