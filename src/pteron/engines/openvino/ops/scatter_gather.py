"""Gather and scatter (coremltools ``ops/defs/*/scatter_gather.py``).

From iOS 17 on, ``validate_indices`` asks for an error when an index is out of range. OpenVINO has
none to give: with or without it such an index stays memory safe, and its effect is undefined.
"""

from __future__ import annotations

import numpy as np

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import Flag, Int, Ints, Tensor, TensorT, Text
from pteron.engines.openvino.graph import (
    as_index,
    axis_of,
    i64,
    ints,
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
    x: Tensor, indices: Ints, axis: Int = 0, batch_dims: Int = 0, validate_indices: Flag = False
) -> Output:
    return opset.gather(x, as_index(indices), i64(axis_of(x, axis)), batch_dims)


@mil_op(tested="NumPy")
def gather_along_axis(
    x: Tensor, indices: Ints, axis: Int = 0, validate_indices: Flag = False
) -> Output:
    where = axis_of(x, axis)
    return opset.gather_elements(x, safe_index(as_index(indices), _length(x, where)), where)


@mil_op(tested="NumPy")
def gather_nd(
    x: Tensor, indices: Ints, batch_dims: Int = 0, validate_indices: Flag = False
) -> Output:
    places = safe_index(as_index(indices), _indexed_sizes(x, indices, batch_dims))
    return opset.gather_nd(x, places, batch_dims)


@mil_op(tested="NumPy")
def scatter(
    data: TensorT,
    indices: Ints,
    updates: TensorT,
    axis: Int = 0,
    mode: Text = "add",
    validate_indices: Flag = False,
) -> Output:
    where = axis_of(data, axis)
    if mode == "update":
        inside = safe_index(as_index(indices), _length(data, where))
        return opset.scatter_update(data, inside, updates, i64(where))
    shape = [1] * rank(data)
    shape[where] = -1
    spread = opset.reshape(as_index(indices), ints(shape), False)
    everywhere = opset.broadcast(spread, shape_of(updates)).output(0)
    return scatter_along_axis(data, everywhere, updates, axis, mode)


@mil_op(tested="NumPy")
def scatter_along_axis(
    data: TensorT,
    indices: Ints,
    updates: TensorT,
    axis: Int = 0,
    mode: Text = "add",
    validate_indices: Flag = False,
) -> Output:
    where = axis_of(data, axis)
    places = safe_index(as_index(indices), _length(data, where))
    if mode in ("sub", "div"):
        mode, updates = _inverted(mode, updates)
    return opset.scatter_elements_update(data, places, updates, i64(where), _reduction(mode))


@mil_op(tested="NumPy")
def scatter_nd(
    data: TensorT,
    indices: Ints,
    updates: TensorT,
    mode: Text = "add",
    validate_indices: Flag = False,
) -> Output:
    places = safe_index(as_index(indices), _indexed_sizes(data, indices))
    if mode in ("sub", "div"):
        mode, updates = _inverted(mode, updates)
    return opset.scatter_nd_update(data, places, updates, _reduction(mode))


def _length(x: Output, axis: int) -> Output:
    return opset.gather(shape_of(x), i64(axis), i64(0))


def _indexed_sizes(x: Output, indices: Output, skipped: int = 0) -> Output:
    """Sizes of the axes that the rows of ``indices`` index."""
    count = size(indices, -1)
    if count is None:
        raise OpProblem("the last axis of the indices must have a known size")
    stop = ints([skipped + count])
    return opset.slice(shape_of(x), ints([skipped]), stop, ints([1]))


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
