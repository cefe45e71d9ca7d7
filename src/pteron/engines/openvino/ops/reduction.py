"""Reductions (coremltools ``ops/defs/*/reduction.py``); without axes they run over all."""

from __future__ import annotations

from collections.abc import Sequence

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import Flag, Floats, Int, IntList, Numbers, Text
from pteron.engines.openvino.graph import axis_of, ints, rank
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.types import element_type
from pteron.engines.openvino.values import Output


@mil_op(tested="NumPy")
def reduce_argmax(x: Numbers, axis: Int = -1, keep_dims: Flag = False) -> Output:
    return _arg(x, axis, keep_dims, "max")


@mil_op("reduce_argmax", since=17, tested="NumPy")
def reduce_argmax_17(
    x: Numbers, axis: Int = -1, keep_dims: Flag = False, output_dtype: Text = "int32"
) -> Output:
    return opset.convert(_arg(x, axis, keep_dims, "max"), element_type(output_dtype))


@mil_op(tested="NumPy")
def reduce_argmin(x: Numbers, axis: Int = -1, keep_dims: Flag = False) -> Output:
    return _arg(x, axis, keep_dims, "min")


@mil_op("reduce_argmin", since=17, tested="NumPy")
def reduce_argmin_17(
    x: Numbers, axis: Int = -1, keep_dims: Flag = False, output_dtype: Text = "int32"
) -> Output:
    return opset.convert(_arg(x, axis, keep_dims, "min"), element_type(output_dtype))


@mil_op(tested="NumPy")
def reduce_l1_norm(x: Numbers, axes: IntList | None = None, keep_dims: Flag = False) -> Output:
    return opset.reduce_sum(opset.abs(x), _axes(x, axes), keep_dims)


@mil_op(tested="NumPy")
def reduce_l2_norm(x: Numbers, axes: IntList | None = None, keep_dims: Flag = False) -> Output:
    return opset.reduce_l2(x, _axes(x, axes), keep_dims)


@mil_op(tested="NumPy")
def reduce_log_sum(x: Numbers, axes: IntList | None = None, keep_dims: Flag = False) -> Output:
    return opset.log(opset.reduce_sum(x, _axes(x, axes), keep_dims))


@mil_op(tested="NumPy")
def reduce_log_sum_exp(x: Floats, axes: IntList | None = None, keep_dims: Flag = False) -> Output:
    highest = opset.reduce_max(x, _axes(x, axes), True)
    total = opset.reduce_sum(opset.exp(opset.subtract(x, highest)), _axes(x, axes), True)
    out = opset.add(opset.log(total), highest)
    return out if keep_dims else opset.squeeze(out, _axes(x, axes))


@mil_op(tested="NumPy")
def reduce_max(x: Numbers, axes: IntList | None = None, keep_dims: Flag = False) -> Output:
    return opset.reduce_max(x, _axes(x, axes), keep_dims)


@mil_op(tested="NumPy")
def reduce_mean(x: Numbers, axes: IntList | None = None, keep_dims: Flag = False) -> Output:
    return opset.reduce_mean(x, _axes(x, axes), keep_dims)


@mil_op(tested="NumPy")
def reduce_min(x: Numbers, axes: IntList | None = None, keep_dims: Flag = False) -> Output:
    return opset.reduce_min(x, _axes(x, axes), keep_dims)


@mil_op(tested="NumPy")
def reduce_prod(x: Numbers, axes: IntList | None = None, keep_dims: Flag = False) -> Output:
    return opset.reduce_prod(x, _axes(x, axes), keep_dims)


@mil_op(tested="NumPy")
def reduce_sum(x: Numbers, axes: IntList | None = None, keep_dims: Flag = False) -> Output:
    return opset.reduce_sum(x, _axes(x, axes), keep_dims)


@mil_op(tested="NumPy")
def reduce_sum_square(x: Numbers, axes: IntList | None = None, keep_dims: Flag = False) -> Output:
    return opset.reduce_sum(opset.multiply(x, x), _axes(x, axes), keep_dims)


def _axes(x: Output, axes: Sequence[int] | None) -> Output:
    return ints([axis_of(x, axis) for axis in axes] if axes else list(range(rank(x))))


def _arg(x: Output, axis: int, keep_dims: bool, mode: str) -> Output:
    """Index of the extreme value, the first one where several are equal."""
    found = opset.topk(x, 1, axis_of(x, axis), mode, "value", "i32", True)
    indices = found.output(1)
    return indices if keep_dims else opset.squeeze(indices, ints([axis_of(x, axis)]))
