"""Matrix products (coremltools ``ops/defs/*/linear.py``)."""

from __future__ import annotations

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import Flag, Numbers, Tensors, Text, Weights
from pteron.engines.openvino.graph import cast_like
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.values import Output


@mil_op()
def linear(x: Numbers, weight: Weights, bias: Numbers | None = None) -> Output:
    out = opset.matmul(x, cast_like(x, weight), False, True)
    return out if bias is None else opset.add(out, cast_like(x, bias))


@mil_op()
def matmul(x: Numbers, y: Numbers, transpose_x: Flag = False, transpose_y: Flag = False) -> Output:
    return opset.matmul(x, cast_like(x, y), transpose_x, transpose_y)


@mil_op()
def einsum(values: Tensors, equation: Text) -> Output:
    return opset.einsum(list(values), equation.replace(" ", ""))
