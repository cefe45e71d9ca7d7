"""Random numbers (coremltools ``ops/defs/iOS15/random.py``).

A seed makes a sequence that can be had again here; Core ML's own numbers it cannot give, since
their generator is not published. Without a seed (-1) every load differs.
"""

from __future__ import annotations

import math

import numpy as np

from pteron.engines.openvino._import import opset, ov
from pteron.engines.openvino.declare import Context, Floats, Int, Ints, Number, Text
from pteron.engines.openvino.graph import as_index, cast_like, i64, ints
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.types import TensorType
from pteron.engines.openvino.values import Output


@mil_op(tested="moments")
def random_uniform(
    context: Context, shape: Ints, low: Number = 0.0, high: Number = 1.0, seed: Int = -1
) -> Output:
    if low == high:  # OpenVINO merges the scale into the generator, and that wants low < high
        return _as_declared(context, opset.broadcast(_f32(low), as_index(shape)))
    unit = _uniform(as_index(shape), seed)
    scaled = opset.add(opset.multiply(unit, _f32(high - low)), _f32(low))
    return _as_declared(context, scaled)


@mil_op(tested="moments")
def random_normal(
    context: Context, shape: Ints, mean: Number = 0.0, stddev: Number = 1.0, seed: Int = -1
) -> Output:
    radius, angle = (_uniform(as_index(shape), seed, stream) for stream in (0, 1))
    # Box-Muller; 1 - u keeps the logarithm's argument above zero.
    length = opset.sqrt(opset.multiply(opset.log(opset.subtract(_f32(1), radius)), _f32(-2)))
    normal = opset.multiply(length, opset.cos(opset.multiply(angle, _f32(2 * math.pi))))
    scaled = opset.add(opset.multiply(normal, _f32(stddev)), _f32(mean))
    return _as_declared(context, scaled)


@mil_op(tested="moments")
def random_bernoulli(context: Context, shape: Ints, prob: Number = 0.5, seed: Int = -1) -> Output:
    return _as_declared(context, opset.less(_uniform(as_index(shape), seed), _f32(prob)))


@mil_op(tested="moments")
def random_categorical(x: Floats, mode: Text = "logits", size: Int = 1, seed: Int = -1) -> Output:
    if mode not in ("logits", "probs"):
        raise OpProblem(f"there is no mode '{mode}'")
    logits = opset.convert(x, "f32")
    if mode == "probs":
        logits = opset.log(logits)
    spread = opset.unsqueeze(logits, ints([-2]))  # [..., 1, classes]
    sizes = opset.shape_of(logits, "i64")
    head = opset.slice(sizes, ints([0]), ints([-1]), ints([1]))
    classes = opset.slice(sizes, ints([-1]), ints([2**31 - 1]), ints([1]))
    unit = _uniform(opset.concat([head, ints([size]), classes], 0), seed)
    # Gumbel's trick: the largest of logits plus this noise is a draw from them.
    noise = opset.negative(opset.log(opset.negative(opset.log(opset.add(unit, _f32(1e-20))))))
    ranked = opset.topk(opset.add(spread, noise), i64(1), -1, "max", "value", "i32")
    return cast_like(x, opset.squeeze(ranked.output(1), ints([-1])).output(0))


def _uniform(shape: Output, seed: int, stream: int = 0) -> Output:
    """Floats in [0, 1). OpenVINO reads two zeros as "no seed"."""
    chosen = 0 if seed == -1 else seed + 1
    return opset.random_uniform(
        shape, _f32(0), _f32(1), ov.Type.f32, global_seed=chosen, op_seed=stream + (seed != -1)
    ).output(0)


def _f32(value: float) -> Output:
    return opset.constant(np.float32(value))


def _as_declared(context: Context, value: Output) -> Output:
    (type,) = context.output_types()
    if not isinstance(type, TensorType):
        raise OpProblem(f"its output is declared as {type}")
    return opset.convert(value, type.element_type)
