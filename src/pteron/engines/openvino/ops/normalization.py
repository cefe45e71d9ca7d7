"""Normalisations (coremltools ``ops/defs/*/normalization.py``)."""

from __future__ import annotations

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import Floats, Int, IntList, Number, Tensor
from pteron.engines.openvino.graph import (
    axis_of,
    cast_like,
    ints,
    like,
    per_channel,
    rank,
    shape_of,
    static_shape,
)
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.values import Output


@mil_op()
def batch_norm(
    x: Floats,
    mean: Tensor,
    variance: Tensor,
    gamma: Tensor | None = None,
    beta: Tensor | None = None,
    epsilon: Number = 1e-5,
) -> Output:
    # Scale and shift are constants: worked out in fp32, whatever the layer's type.
    spread = opset.convert(variance, "f32").output(0)
    scale = opset.divide(like(spread, 1), opset.sqrt(opset.add(spread, like(spread, epsilon))))
    if gamma is not None:
        scale = opset.multiply(scale, opset.convert(gamma, "f32"))
    shift = opset.negative(opset.multiply(scale, opset.convert(mean, "f32")))
    if beta is not None:
        shift = opset.add(shift, opset.convert(beta, "f32"))
    scaled = opset.multiply(x, per_channel(x, scale.output(0)))
    return opset.add(scaled, per_channel(x, shift.output(0)))


@mil_op()
def instance_norm(
    x: Floats, gamma: Tensor | None = None, beta: Tensor | None = None, epsilon: Number = 1e-5
) -> Output:
    axes = ints(range(2, rank(x)))
    return _affine(x, opset.mvn(x, axes, True, epsilon, "inside_sqrt"), gamma, beta)


@mil_op()
def l2_norm(x: Floats, epsilon: Number = 1e-6) -> Output:
    axes = ints(range(max(rank(x) - 3, 0), rank(x)))
    norm = opset.reduce_sum(opset.multiply(x, x), axes, True)
    return opset.divide(x, opset.sqrt(opset.add(norm, like(x, epsilon))))


@mil_op()
def layer_norm(
    x: Floats,
    axes: IntList | None = None,
    gamma: Tensor | None = None,
    beta: Tensor | None = None,
    epsilon: Number = 1e-5,
) -> Output:
    chosen = sorted(axis_of(x, axis) for axis in (axes or range(rank(x))))
    out = opset.mvn(x, ints(chosen), True, epsilon, "inside_sqrt")
    if gamma is not None:
        out = opset.multiply(out, _on_axes(x, gamma, chosen))
    return out if beta is None else opset.add(out, _on_axes(x, beta, chosen))


@mil_op()
def local_response_norm(
    x: Floats, size: Int, alpha: Number = 1e-4, beta: Number = 0.75, k: Number = 1.0
) -> Output:
    # OpenVINO's LRN leaves k out. The mean of squares over neighbouring channels is a pooling.
    # An even size has no middle: it reaches one channel further back, as PyTorch's does.
    flat = opset.reshape(opset.multiply(x, x), ints([0, 1, static_shape(x)[1], -1]), True)
    before, after = [size // 2, 0], [(size - 1) // 2, 0]
    mean = opset.avg_pool(flat, [1, 1], before, after, [size, 1], False)
    mean = opset.reshape(mean, shape_of(x), False)
    scale = opset.power(opset.add(opset.multiply(mean, like(x, alpha)), like(x, k)), like(x, beta))
    return opset.divide(x, scale)


def _affine(x: Output, out: Output, gamma: Output | None, beta: Output | None) -> Output:
    if gamma is not None:
        out = opset.multiply(out, per_channel(x, gamma))
    return out if beta is None else opset.add(out, per_channel(x, beta))


def _on_axes(x: Output, values: Output, axes: list[int]) -> Output:
    """Values that run over some axes of ``x``, shaped to broadcast over the others."""
    sizes = list(values.get_partial_shape().to_shape())
    shape = [1] * rank(x)
    for axis, length in zip(axes, sizes, strict=True):
        shape[axis] = int(length)
    return opset.reshape(cast_like(x, values), ints(shape), False)
