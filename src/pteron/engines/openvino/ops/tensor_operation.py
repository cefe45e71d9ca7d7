"""Making, joining and rearranging tensors (coremltools ``ops/defs/*/tensor_operation.py``)."""

from __future__ import annotations

import numpy as np

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import (
    Bools,
    Context,
    Flag,
    Int,
    IntList,
    Ints,
    Number,
    Numbers,
    NumbersT,
    Raw,
    Tensor,
    Tensors,
    TensorT,
    Text,
)
from pteron.engines.openvino.graph import (
    as_index,
    axis_of,
    boolean,
    cast_like,
    i32,
    i64,
    ints,
    is_constant,
    like,
    nonzero,
    rank,
    shape_of,
)
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.types import TensorType, dtype_of
from pteron.engines.openvino.values import Output, Value

_ZERO = np.float32(0)
_PAD_MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}


@mil_op(tested="NumPy")
def concat(values: Tensors, axis: Int, interleave: Flag = False) -> Output:
    values = [opset.unsqueeze(v, ints([0])).output(0) if not rank(v) else v for v in values]
    where = axis_of(values[0], axis)
    if not interleave:
        return opset.concat(list(values), where)
    stacked = opset.concat([opset.unsqueeze(v, ints([where + 1])) for v in values], where + 1)
    return _merge_axes(stacked.output(0), where, rank(values[0]))


@mil_op(tested="NumPy")
def stack(values: Tensors, axis: Int) -> Output:
    where = axis_of(values[0], axis, extra=1)
    return opset.concat([opset.unsqueeze(v, ints([where])) for v in values], where)


@mil_op(tested="NumPy")
def split(
    x: Tensor, axis: Int, num_splits: Int | None = None, split_sizes: IntList | None = None
) -> list[Output]:
    where = axis_of(x, axis)
    if split_sizes is not None:
        return opset.variadic_split(x, ints([where]), ints(split_sizes)).outputs()  # type: ignore[no-any-return]
    if num_splits is None:
        raise OpProblem("needs num_splits or split_sizes")
    return opset.split(x, i64(where), num_splits).outputs()  # type: ignore[no-any-return]


@mil_op(tested="NumPy")
def select(cond: Bools, a: TensorT, b: TensorT) -> Output:
    return opset.select(cond, a, b)


@mil_op(tested="NumPy")
def shape(x: Tensor) -> Output:
    return shape_of(x)


@mil_op(tested="NumPy")
def fill(shape: Ints, value: Raw = None) -> Output:
    if is_constant(shape) and (shape.get_node().data < 0).any():
        raise OpProblem(f"a shape of {shape.get_node().data.tolist()}")
    return opset.broadcast(_fill_value(value), as_index(shape))


@mil_op(since=16, tested="NumPy")
def fill_like(ref_tensor: Tensor, value: Raw = None) -> Output:
    return opset.broadcast(_fill_value(value), shape_of(ref_tensor))


@mil_op(tested="NumPy")
def range_1d(context: Context, end: NumbersT, start: NumbersT, step: NumbersT) -> Output:
    """A step of 0 is an error, by value where a call computes it."""
    problem = "the step is 0"
    if not is_constant(step):
        differs = opset.squeeze(opset.not_equal(step, like(step, 0)))
        context.demand(differs.output(0), problem)
    elif not step.get_node().data.all():
        raise OpProblem(problem)
    bounds = [opset.squeeze(bound) for bound in (start, end, nonzero(step))]
    return opset.range(*bounds, end.get_element_type())


@mil_op(tested="NumPy")
def tile(x: Tensor, reps: Ints) -> Output:
    return opset.tile(x, as_index(reps))


@mil_op(tested="NumPy")
def flatten2d(x: Tensor, axis: Int = 1) -> Output:
    count = rank(x)
    where = axis + count if axis < 0 else axis
    sizes = shape_of(x)
    zero, one = ints([0]), ints([1])
    head = opset.reduce_prod(opset.slice(sizes, zero, ints([where]), one), zero, True)
    return opset.reshape(x, opset.concat([head, i32([-1])], 0), False)


@mil_op(tested="NumPy")
def pad(x: Tensor, pad: Ints, mode: Text = "constant", constant_val: Number = 0.0) -> Output:
    if mode not in _PAD_MODES:
        raise OpProblem(f"there is no padding mode '{mode}'")
    before, after = _pads(x, as_index(pad))
    return opset.pad(x, before, after, _PAD_MODES[mode], like(x, constant_val))


@mil_op(tested="NumPy")
def band_part(x: Tensor, lower: Int = -1, upper: Int = -1) -> Output:
    count = rank(x)
    sizes = shape_of(x)
    rows, columns = (
        _range(opset.gather(sizes, i64(axis), i64(0))) for axis in (count - 2, count - 1)
    )
    distance = opset.subtract(columns, opset.unsqueeze(rows, ints([1])))  # column minus row
    keep = boolean(True)
    if lower >= 0:
        within = opset.greater_equal(distance, i32(-lower))
        keep = opset.logical_and(keep, within)
    if upper >= 0:
        keep = opset.logical_and(keep, opset.less_equal(distance, i32(upper)))
    return opset.select(keep, x, opset.constant(0, x.get_element_type()))


@mil_op(tested="NumPy")
def cumsum(x: Numbers, axis: Int = 0, exclusive: Flag = False, reverse: Flag = False) -> Output:
    return opset.cumsum(x, i64(axis_of(x, axis)), exclusive, reverse)


@mil_op(tested="NumPy")
def one_hot(
    indices: Ints,
    one_hot_vector_size: Ints,
    axis: Int = -1,
    on_value: Raw = None,
    off_value: Raw = None,
) -> Output:
    on = _fill_value(on_value, default=np.int32(1))
    off = cast_like(on, _fill_value(off_value, default=np.int32(0)))
    size = opset.squeeze(as_index(one_hot_vector_size))
    return opset.one_hot(as_index(indices), size, on, off, axis_of(indices, axis, extra=1))


@mil_op(tested="NumPy")
def non_zero(x: Tensor) -> Output:
    if dtype_of(x) == "bool":
        x = opset.convert(x, "u8").output(0)
    return opset.transpose(opset.non_zero(x, "i32"), ints([1, 0]))


def _fill_value(value: Value | None, default: np.generic = _ZERO) -> Output:
    if value is None:
        return opset.constant(default).output(0)
    if not isinstance(value.type, TensorType):
        raise OpProblem("input 'value' must be a scalar")
    return opset.squeeze(value.tensor()).output(0)


def _pads(x: Output, pad: Output) -> tuple[Output, Output]:
    """The flat ``[before, after, ...]`` of the last axes, as two vectors over all axes."""
    pairs = opset.reshape(pad, ints([-1, 2]), False)
    given = pairs.output(0).get_partial_shape()[0]
    if given.is_dynamic or int(given.get_length()) > rank(x):
        raise OpProblem("pad must hold two numbers for each of the last axes")
    missing = opset.constant(np.zeros((rank(x) - int(given.get_length()), 2), np.int32))
    both = opset.concat([missing, pairs], 0)
    axis = i64(1)
    return tuple(opset.gather(both, i64(side), axis) for side in (0, 1))


def _range(stop: Output) -> Output:
    return opset.range(i32(0), stop, i32(1), "i32")


def _merge_axes(x: Output, axis: int, count: int) -> Output:
    """Merge an axis with the one after it; ``count`` is the rank afterwards."""
    sizes = shape_of(x)
    zero, one = ints([0]), ints([1])
    parts = [
        opset.slice(sizes, zero, ints([axis]), one),
        i32([-1]),
        opset.slice(sizes, ints([axis + 2]), ints([count + 1]), one),
    ]
    return opset.reshape(x, opset.concat(parts, 0), False)
