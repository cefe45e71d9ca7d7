"""Quantised tensors at run time (coremltools ``ops/defs/iOS17/quantization_ops.py``)."""

from __future__ import annotations

from pteron.engines.openvino._import import opset, ov
from pteron.engines.openvino.declare import Floats, Int, Numbers, Text
from pteron.engines.openvino.graph import axis_of, ints, like, rank
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.types import element_type
from pteron.engines.openvino.values import Output

_RANGES = {"int8": (-128, 127), "uint8": (0, 255)}


@mil_op(since=17, tested="NumPy")
def dequantize(
    input: Numbers, scale: Floats, zero_point: Numbers | None = None, axis: Int | None = None
) -> Output:
    values = opset.convert(input, scale.get_element_type())
    if zero_point is not None:
        shift = opset.convert(zero_point, scale.get_element_type())
        values = opset.subtract(values, _along(input, shift, axis))
    return opset.multiply(values, _along(input, scale, axis))


@mil_op(since=17, tested="NumPy")
def quantize(
    input: Floats,
    scale: Floats,
    output_dtype: Text,
    zero_point: Numbers | None = None,
    axis: Int | None = None,
) -> Output:
    if output_dtype not in _RANGES:
        raise OpProblem(f"cannot quantise to '{output_dtype}'")
    wide = opset.divide(
        opset.convert(input, ov.Type.f32),
        opset.convert(_along(input, scale, axis), ov.Type.f32),
    )
    steps = opset.round(wide, "half_to_even").output(0)
    if zero_point is not None:
        shift = opset.convert(zero_point, ov.Type.f32)
        steps = opset.add(steps, _along(input, shift, axis)).output(0)
    low, high = _RANGES[output_dtype]
    inside = opset.minimum(opset.maximum(steps, like(steps, low)), like(steps, high))
    return opset.convert(inside, element_type(output_dtype))


def _along(x: Output, parameter: Output, axis: int | None) -> Output:
    """A scalar as it is; a vector shaped to run along ``axis`` of ``x``."""
    parameter = parameter.output(0) if hasattr(parameter, "output") else parameter
    if not rank(parameter) or axis is None:
        return parameter
    shape = [1] * rank(x)
    shape[axis_of(x, axis)] = -1
    return opset.reshape(parameter, ints(shape), False)
