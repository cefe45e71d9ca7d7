"""Activations (coremltools ``ops/defs/*/activation.py``; iOS 17 lets scalar types differ)."""

from __future__ import annotations

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import Floats, Int, Number, Tensor, Text
from pteron.engines.openvino.graph import axis_of, like, per_channel
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.values import Output


@mil_op()
def clamped_relu(x: Floats, alpha: Number, beta: Number) -> Output:
    return opset.minimum(leaky_relu(x, alpha), like(x, beta))


@mil_op()
def elu(x: Floats, alpha: Number) -> Output:
    return opset.elu(x, alpha)


@mil_op()
def gelu(x: Floats, mode: Text = "EXACT") -> Output:
    if mode == "SIGMOID_APPROXIMATION":
        return opset.multiply(x, opset.sigmoid(opset.multiply(x, like(x, 1.702))))
    if mode not in ("EXACT", "TANH_APPROXIMATION"):
        raise OpProblem(f"there is no gelu mode '{mode}'")
    return opset.gelu(x, "erf" if mode == "EXACT" else "tanh")


@mil_op()
def leaky_relu(x: Floats, alpha: Number) -> Output:
    return opset.select(
        opset.greater_equal(x, like(x, 0)), x, opset.multiply(x, like(x, alpha))
    ).output(0)


@mil_op()
def linear_activation(x: Floats, alpha: Number, beta: Number) -> Output:
    return opset.add(opset.multiply(x, like(x, alpha)), like(x, beta))


@mil_op()
def prelu(x: Floats, alpha: Tensor) -> Output:
    return opset.prelu(x, per_channel(x, alpha))


@mil_op()
def relu(x: Floats) -> Output:
    return opset.relu(x)


@mil_op()
def relu6(x: Floats) -> Output:
    return opset.clamp(x, 0.0, 6.0)


@mil_op()
def scaled_tanh(x: Floats, alpha: Number, beta: Number) -> Output:
    return opset.multiply(opset.tanh(opset.multiply(x, like(x, beta))), like(x, alpha))


@mil_op()
def sigmoid(x: Floats) -> Output:
    return opset.sigmoid(x)


@mil_op()
def sigmoid_hard(x: Floats, alpha: Number, beta: Number) -> Output:
    return opset.hard_sigmoid(x, like(x, alpha), like(x, beta))


@mil_op()
def silu(x: Floats) -> Output:
    return opset.swish(x, like(x, 1))


@mil_op()
def softplus(x: Floats) -> Output:
    return opset.softplus(x)


@mil_op()
def softplus_parametric(x: Floats, alpha: Tensor, beta: Tensor) -> Output:
    inner = opset.softplus(opset.multiply(x, per_channel(x, beta)))
    return opset.multiply(inner, per_channel(x, alpha))


@mil_op()
def softmax(x: Floats, axis: Int = -1) -> Output:
    return opset.softmax(x, axis_of(x, axis))


@mil_op()
def softsign(x: Floats) -> Output:
    return opset.softsign(x)


@mil_op()
def thresholded_relu(x: Floats, alpha: Number) -> Output:
    return opset.select(opset.greater_equal(x, like(x, alpha)), x, like(x, 0))
