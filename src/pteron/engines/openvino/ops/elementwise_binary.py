"""Elementwise ops of two tensors, which broadcast as in NumPy
(coremltools ``ops/defs/iOS15/elementwise_binary.py``)."""

from __future__ import annotations

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import Bools, NumbersT, TensorT
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.types import dtype_of
from pteron.engines.openvino.values import Output


@mil_op(tested="NumPy")
def add(x: NumbersT, y: NumbersT) -> Output:
    return opset.add(x, y)


@mil_op(tested="NumPy")
def sub(x: NumbersT, y: NumbersT) -> Output:
    return opset.subtract(x, y)


@mil_op(tested="NumPy")
def mul(x: NumbersT, y: NumbersT) -> Output:
    return opset.multiply(x, y)


@mil_op(tested="NumPy")
def real_div(x: NumbersT, y: NumbersT) -> Output:
    if dtype_of(x).startswith("float"):
        return opset.divide(x, y)
    return opset.divide(opset.convert(x, "f32"), opset.convert(y, "f32"))


@mil_op(tested="NumPy")
def floor_div(x: NumbersT, y: NumbersT) -> Output:
    if dtype_of(x).startswith("float"):
        return opset.floor(opset.divide(x, y))
    quotient = opset.divide(opset.convert(x, "f64"), opset.convert(y, "f64"))
    return opset.convert(opset.floor(quotient), x.get_element_type())


@mil_op(tested="NumPy")
def mod(x: NumbersT, y: NumbersT) -> Output:
    return opset.floor_mod(x, y)


@mil_op(tested="NumPy")
def pow(x: NumbersT, y: NumbersT) -> Output:
    return opset.power(x, y)


@mil_op(tested="NumPy")
def maximum(x: NumbersT, y: NumbersT) -> Output:
    return opset.maximum(x, y)


@mil_op(tested="NumPy")
def minimum(x: NumbersT, y: NumbersT) -> Output:
    return opset.minimum(x, y)


@mil_op(tested="NumPy")
def equal(x: TensorT, y: TensorT) -> Output:
    return opset.equal(x, y)


@mil_op(tested="NumPy")
def not_equal(x: TensorT, y: TensorT) -> Output:
    return opset.not_equal(x, y)


@mil_op(tested="NumPy")
def greater(x: NumbersT, y: NumbersT) -> Output:
    return opset.greater(x, y)


@mil_op(tested="NumPy")
def greater_equal(x: NumbersT, y: NumbersT) -> Output:
    return opset.greater_equal(x, y)


@mil_op(tested="NumPy")
def less(x: NumbersT, y: NumbersT) -> Output:
    return opset.less(x, y)


@mil_op(tested="NumPy")
def less_equal(x: NumbersT, y: NumbersT) -> Output:
    return opset.less_equal(x, y)


@mil_op(tested="NumPy")
def logical_and(x: Bools, y: Bools) -> Output:
    return opset.logical_and(x, y)


@mil_op(tested="NumPy")
def logical_or(x: Bools, y: Bools) -> Output:
    return opset.logical_or(x, y)


@mil_op(tested="NumPy")
def logical_xor(x: Bools, y: Bools) -> Output:
    return opset.logical_xor(x, y)
