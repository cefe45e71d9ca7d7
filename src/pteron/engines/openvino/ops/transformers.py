"""Attention (coremltools ``ops/defs/iOS18/transformers.py``)."""

from __future__ import annotations

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import BoolsOrFloats, FloatsT
from pteron.engines.openvino.graph import cast_like
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.types import dtype_of
from pteron.engines.openvino.values import Output


@mil_op(since=18)
def scaled_dot_product_attention(
    query: FloatsT, key: FloatsT, value: FloatsT, attn_mask: BoolsOrFloats | None = None
) -> Output:
    if attn_mask is not None and dtype_of(attn_mask) != "bool":
        attn_mask = cast_like(query, attn_mask)
    return opset.scaled_dot_product_attention(query, key, value, attn_mask)
