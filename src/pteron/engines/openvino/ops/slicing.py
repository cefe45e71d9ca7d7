"""Slices, read and written (coremltools ``ops/defs/*/tensor_transformation.py``)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import FlagList, Int, IntList, Ints, Tensor, TensorT
from pteron.engines.openvino.graph import as_index, axis_of, i32, i64, ints, rank, shape_of, size
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.types import TensorType, check_memory
from pteron.engines.openvino.values import Output


@mil_op(tested="NumPy")
def slice_by_index(
    x: Tensor,
    begin: Ints,
    end: Ints,
    stride: IntList | None = None,
    begin_mask: FlagList | None = None,
    end_mask: FlagList | None = None,
    squeeze_mask: FlagList | None = None,
) -> Output:
    count = rank(x)
    if not count:
        return x
    return opset.strided_slice(
        x,
        as_index(begin),
        as_index(end),
        ints(stride or [1] * count),
        _bits(begin_mask, count),
        _bits(end_mask, count),
        shrink_axis_mask=_bits(squeeze_mask, count),
    )


@mil_op(tested="NumPy")
def slice_by_size(x: Tensor, begin: Ints, size: Ints) -> Output:
    begin, size = as_index(begin), as_index(size)
    begin = _from_front(x, begin)
    rest = opset.less(size, i32(0))
    end = opset.select(rest, shape_of(x), opset.add(begin, size))
    return opset.slice(x, begin, end, ints([1] * rank(x)), ints(range(rank(x))))


@mil_op(since=18, tested="NumPy")
def slice_update(
    x: TensorT,
    update: TensorT,
    begin: Ints,
    end: Ints,
    stride: IntList | None = None,
    begin_mask: FlagList | None = None,
    end_mask: FlagList | None = None,
    squeeze_mask: FlagList | None = None,
) -> Output:
    squeezed = [axis for axis, flag in enumerate(squeeze_mask or []) if flag]
    if squeezed:
        update = opset.unsqueeze(update, ints(squeezed)).output(0)
    steps = stride or [1] * rank(x)
    masked = begin_mask or [False] * rank(x)
    partial = [a for a in range(rank(x)) if steps[a] != 1 or size(x, a) != size(update, a)]
    places = {a: _places(x, update, begin, a, steps[a], masked[a]) for a in partial}
    if not partial:
        return update
    if len(partial) == 1:
        (axis,) = partial
        return opset.scatter_update(x, places[axis], update, i64(axis))
    return _scatter_flat(x, update, places)


def _places(
    x: Output, update: Output, begin: Output, axis: int, step: int, from_edge: bool
) -> Output:
    """Indices along an axis that an update goes to. How many there are, the update says, so that
    ``end`` is not needed (OpenVINO's SliceScatter with a begin that is no constant is wrong)."""
    if from_edge:
        start = i32(0) if step > 0 else opset.subtract(_length(x, axis), i32(1))
    else:
        # An update that would reach past the end is moved back to where it fits.
        reach = opset.multiply(opset.subtract(_length(update, axis), i32(1)), i32(step))
        least = opset.subtract(i32(0), opset.minimum(reach, i32(0)))
        most = opset.subtract(
            opset.subtract(_length(x, axis), i32(1)), opset.maximum(reach, i32(0))
        )
        asked = _from_front_at(x, as_index(begin), axis)
        start = opset.maximum(opset.minimum(asked, most), least)
    within = opset.range(i32(0), _length(update, axis), i32(1), "i32")
    return opset.add(start, opset.multiply(within, i32(step))).output(0)


def _scatter_flat(x: Output, update: Output, places: dict[int, Output]) -> Output:
    """Write an update whose place is partial along several axes, through the flat tensor."""
    flat: Output = i32(0)
    for axis in range(rank(x)):
        along = places.get(axis)
        if along is None:
            along = opset.range(i32(0), _length(x, axis), i32(1), "i32")
        column = opset.reshape(along, ints([-1] + [1] * (rank(x) - 1 - axis)), False)
        flat = opset.add(opset.multiply(flat, _length(x, axis)), column)
    one_axis = ints([-1])
    written = opset.scatter_update(
        opset.reshape(x, one_axis, False),
        opset.reshape(flat, one_axis, False),
        opset.reshape(update, one_axis, False),
        i64(0),
    )
    return opset.reshape(written, shape_of(x), False)


@mil_op(tested="NumPy")
def sliding_windows(x: Tensor, axis: Int, size: Int, stride: Int = 1) -> Output:
    where = axis_of(x, axis)
    length = _known_length(x, where)
    if stride < 1 or size < 1 or (length is not None and size > length):
        raise OpProblem(f"windows of {size} every {stride} of an axis of {length or '?'}")
    check_memory(TensorType("int32", (size,)), share=2)
    stop = opset.subtract(_length(x, where), i32(size - 1))
    starts = opset.range(i32(0), stop, i32(stride), "i32")
    within = opset.constant(np.arange(size, dtype=np.int32))
    return opset.gather(x, opset.add(opset.unsqueeze(starts, ints([1])), within), ints([where]))


def _from_front(x: Output, begin: Output) -> Output:
    """Indices counted from the front, where negative ones count from the end."""
    negative = opset.less(begin, i32(0))
    return opset.select(negative, opset.add(begin, shape_of(x)), begin).output(0)


def _bits(mask: Sequence[bool] | None, count: int) -> list[int]:
    return [int(flag) for flag in mask or [False] * count]


def _known_length(x: Output, axis: int) -> int | None:
    return size(x, axis)


def _length(x: Output, axis: int) -> Output:
    return opset.gather(shape_of(x), i64(axis), i64(0))


def _from_front_at(x: Output, begin: Output, axis: int) -> Output:
    """``begin[axis]``, counted from the front."""
    at = opset.gather(begin, i64(axis), i64(0))
    return opset.select(opset.less(at, i32(0)), opset.add(at, _length(x, axis)), at)
