"""Gather and scatter (coremltools ``ops/defs/*/scatter_gather.py``).

From iOS 17 on, ``validate_indices`` asks for an error when an index is negative or not below the
size of its axis: at translation where both are known, else from the call that computes it (see
:mod:`pteron.engines.openvino.checks`). Unvalidated, such an index is memory safe, and its effect is
undefined.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import Context, Flag, Int, Ints, Tensor, TensorT, Text
from pteron.engines.openvino.graph import (
    as_index,
    axis_of,
    i32,
    i64,
    ints,
    is_constant,
    rank,
    safe_index,
    shape_of,
    size,
    through,
)
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.types import dtype_of
from pteron.engines.openvino.values import Output

_REDUCTIONS = {"update": "none", "add": "sum", "mul": "prod", "max": "max", "min": "min"}


@mil_op(tested="NumPy")
def gather(x: Tensor, indices: Ints, axis: Int = 0) -> Output:
    return opset.gather(x, as_index(indices), i64(axis_of(x, axis)))


@mil_op("gather", since=16, tested="NumPy")
def gather_16(
    context: Context,
    x: Tensor,
    indices: Ints,
    axis: Int = 0,
    batch_dims: Int = 0,
    validate_indices: Flag = False,
) -> Output:
    if validate_indices:
        _validate(context, x, indices, [axis_of(x, axis)])
    return opset.gather(x, as_index(indices), i64(axis_of(x, axis)), batch_dims)


@mil_op(tested="NumPy")
def gather_along_axis(
    context: Context, x: Tensor, indices: Ints, axis: Int = 0, validate_indices: Flag = False
) -> Output:
    where = axis_of(x, axis)
    if validate_indices:
        _validate(context, x, indices, [where])
    return opset.gather_elements(x, safe_index(as_index(indices), _length(x, where)), where)


@mil_op(tested="NumPy")
def gather_nd(
    context: Context, x: Tensor, indices: Ints, batch_dims: Int = 0, validate_indices: Flag = False
) -> Output:
    axes = _indexed_axes(indices, batch_dims)
    if validate_indices:
        _validate(context, x, indices, axes)
    places = safe_index(as_index(indices), _lengths(x, axes))
    return opset.gather_nd(x, places, batch_dims)


@mil_op(tested="NumPy")
def scatter(
    context: Context,
    data: TensorT,
    indices: Ints,
    updates: TensorT,
    axis: Int = 0,
    mode: Text = "add",
    validate_indices: Flag = False,
) -> Output:
    where = axis_of(data, axis)
    if validate_indices:
        _validate(context, data, indices, [where])
    if mode == "update":
        inside = safe_index(as_index(indices), _length(data, where))
        return opset.scatter_update(data, inside, updates, i64(where))
    shape = [1] * rank(data)
    shape[where] = -1
    spread = opset.reshape(as_index(indices), ints(shape), False)
    everywhere = opset.broadcast(spread, shape_of(updates)).output(0)
    return scatter_along_axis(context, data, everywhere, updates, axis, mode)


@mil_op(tested="NumPy")
def scatter_along_axis(
    context: Context,
    data: TensorT,
    indices: Ints,
    updates: TensorT,
    axis: Int = 0,
    mode: Text = "add",
    validate_indices: Flag = False,
) -> Output:
    where = axis_of(data, axis)
    if validate_indices:
        _validate(context, data, indices, [where])
    places = safe_index(as_index(indices), _length(data, where))
    if mode in ("sub", "div"):
        mode, updates = _inverted(mode, updates)
    return opset.scatter_elements_update(data, places, updates, i64(where), _reduction(mode))


@mil_op(tested="NumPy")
def scatter_nd(
    context: Context,
    data: TensorT,
    indices: Ints,
    updates: TensorT,
    mode: Text = "add",
    validate_indices: Flag = False,
) -> Output:
    axes = _indexed_axes(indices)
    if validate_indices:
        _validate(context, data, indices, axes)
    places = safe_index(as_index(indices), _lengths(data, axes))
    if mode in ("sub", "div"):
        mode, updates = _inverted(mode, updates)
    return opset.scatter_nd_update(data, places, updates, _reduction(mode))


def _length(x: Output, axis: int) -> Output:
    return opset.gather(shape_of(x), i64(axis), i64(0))


def _indexed_axes(indices: Output, skipped: int = 0) -> list[int]:
    """The axes that the rows of ``indices`` index."""
    count = size(indices, -1)
    if count is None:
        raise OpProblem("the last axis of the indices must have a known size")
    return list(range(skipped, skipped + count))


def _lengths(x: Output, axes: Sequence[int]) -> Output:
    return opset.gather(shape_of(x), ints(axes), i64(0))


def _validate(context: Context, x: Output, indices: Output, axes: Sequence[int]) -> None:
    """Demand that indices lie inside: of one axis, or of as many as their last axis is long."""
    problem = _outside(x, axes)
    lengths = [n for axis in axes if (n := size(x, axis)) is not None]
    known = len(lengths) == len(axes)
    if known and is_constant(indices):
        data = indices.get_node().data
        if ((data < 0) | (data >= np.array(lengths))).any():
            raise OpProblem(problem)
        return
    index, bounds = as_index(indices), i32(lengths) if known else _lengths(x, axes)
    inside = opset.logical_and(opset.greater_equal(index, i32(0)), opset.less(index, bounds))
    every = opset.reduce_logical_and(inside, ints(range(rank(inside.output(0)))))
    context.demand(every.output(0), problem)


def _outside(x: Output, axes: Sequence[int]) -> str:
    sizes = " x ".join("?" if (n := size(x, axis)) is None else str(n) for axis in axes)
    which = "axis" if len(axes) == 1 else "axes"
    return (
        f"an index is negative or not below the size of what it indexes ({sizes}, {which} "
        f"{', '.join(map(str, axes))}); correct the indices, or build the operation with "
        "validate_indices=False"
    )


def _reduction(mode: str) -> str:
    if mode not in _REDUCTIONS:
        raise OpProblem(f"there is no scatter mode '{mode}'")
    return _REDUCTIONS[mode]


def _inverted(mode: str, updates: Output) -> tuple[str, Output]:
    """Subtraction as the sum of negatives, division as the product of reciprocals."""
    if mode == "sub":
        return "add", opset.negative(updates).output(0)
    if not dtype_of(updates).startswith("float"):
        raise OpProblem("scatter mode 'div' of integers is not supported")
    return "mul", through(updates, "f32", lambda u: opset.divide(opset.constant(np.float32(1)), u))
