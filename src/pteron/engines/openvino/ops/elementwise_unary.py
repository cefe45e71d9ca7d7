"""Elementwise ops of one tensor (coremltools ``ops/defs/*/elementwise_unary.py``)."""

from __future__ import annotations

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import Bools, Floats, Number, Numbers, Tensor, Text
from pteron.engines.openvino.graph import like
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.types import dtype_of, element_type
from pteron.engines.openvino.values import Output

_CASTS_15 = {"bool", "fp16", "fp32", "int32", "int64"}
_CASTS_17 = _CASTS_15 | {"int8", "uint8", "int16", "uint16"}


@mil_op()
def abs(x: Numbers) -> Output:
    return opset.abs(x)


@mil_op()
def acos(x: Numbers) -> Output:
    return opset.acos(x)


@mil_op()
def asin(x: Numbers) -> Output:
    return opset.asin(x)


@mil_op()
def atan(x: Numbers) -> Output:
    return opset.atan(x)


@mil_op()
def atanh(x: Numbers) -> Output:
    return opset.atanh(x)


@mil_op(tested="NumPy")
def cast(x: Tensor, dtype: Text) -> Output:
    if dtype not in _CASTS_15:
        raise OpProblem(f"cannot cast to '{dtype}'")
    return opset.convert(x, element_type(dtype))


@mil_op("cast", since=17, tested="NumPy")
def cast_17(x: Tensor, dtype: Text) -> Output:
    if dtype not in _CASTS_17:
        raise OpProblem(f"cannot cast to '{dtype}'")
    return opset.convert(x, element_type(dtype))


@mil_op()
def ceil(x: Numbers) -> Output:
    return opset.ceiling(x) if _is_float(x) else x


@mil_op()
def clip(x: Floats, alpha: Number, beta: Number) -> Output:
    return opset.clamp(x, alpha, beta)


@mil_op()
def cos(x: Numbers) -> Output:
    return opset.cos(x)


@mil_op()
def cosh(x: Numbers) -> Output:
    return opset.cosh(x)


@mil_op()
def erf(x: Numbers) -> Output:
    return opset.erf(x)


@mil_op()
def exp(x: Numbers) -> Output:
    return opset.exp(x)


@mil_op()
def exp2(x: Numbers) -> Output:
    return opset.power(like(x, 2), x)


@mil_op()
def floor(x: Numbers) -> Output:
    return opset.floor(x) if _is_float(x) else x


@mil_op()
def inverse(x: Floats, epsilon: Number = 1e-4) -> Output:
    return opset.divide(like(x, 1), opset.add(x, like(x, epsilon)))


@mil_op()
def log(x: Floats, epsilon: Number = 1e-45) -> Output:
    return opset.log(opset.add(x, like(x, epsilon)))


@mil_op()
def logical_not(x: Bools) -> Output:
    return opset.logical_not(x)


@mil_op("identity")
def identity(x: Tensor) -> Output:
    return x


@mil_op()
def round(x: Numbers) -> Output:
    return opset.round(x, "half_to_even") if _is_float(x) else x


@mil_op()
def rsqrt(x: Floats, epsilon: Number = 1e-12) -> Output:
    return opset.divide(like(x, 1), opset.sqrt(opset.add(x, like(x, epsilon))))


@mil_op()
def sign(x: Numbers) -> Output:
    return opset.sign(x)


@mil_op()
def sin(x: Numbers) -> Output:
    return opset.sin(x)


@mil_op()
def sinh(x: Numbers) -> Output:
    return opset.sinh(x)


@mil_op()
def sqrt(x: Numbers) -> Output:
    return opset.sqrt(x)


@mil_op()
def square(x: Numbers) -> Output:
    return opset.multiply(x, x)


@mil_op()
def tan(x: Numbers) -> Output:
    return opset.tan(x)


@mil_op()
def tanh(x: Numbers) -> Output:
    return opset.tanh(x)


@mil_op()
def threshold(x: Numbers, alpha: Number) -> Output:
    return opset.maximum(x, like(x, alpha))


def _is_float(x: Output) -> bool:
    return dtype_of(x).startswith("float")
