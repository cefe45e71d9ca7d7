"""Slices, read and written (coremltools ``ops/defs/*/tensor_transformation.py``)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import FlagList, Int, IntList, Ints, Tensor, TensorT
from pteron.engines.openvino.graph import as_index, axis_of, i32, ints, rank, shape_of
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.values import Output

_FAR = 2**31 - 1  # past the end of every axis


@mil_op()
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


@mil_op()
def slice_by_size(x: Tensor, begin: Ints, size: Ints) -> Output:
    begin, size = as_index(begin), as_index(size)
    begin = _from_front(x, begin)
    rest = opset.less(size, i32(0))
    end = opset.select(rest, shape_of(x), opset.add(begin, size))
    return opset.slice(x, begin, end, ints([1] * rank(x)), ints(range(rank(x))))


@mil_op(since=18)
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
    count = rank(x)
    if not count:
        return update
    step = stride or [1] * count
    squeezed = [axis for axis, flag in enumerate(squeeze_mask or []) if flag]
    start, stop = as_index(begin), as_index(end)
    if squeezed:
        update = opset.unsqueeze(update, ints(squeezed)).output(0)
        start = _from_front(x, start)
        stop = _where(squeeze_mask, opset.add(start, i32(1)), stop)
    start = _where(begin_mask, [0 if s > 0 else -1 for s in step], start)
    stop = _where(end_mask, [_FAR if s > 0 else -_FAR for s in step], stop)
    return opset.slice_scatter(x, update, start, stop, ints(step), ints(range(count)))


@mil_op()
def sliding_windows(x: Tensor, axis: Int, size: Int, stride: Int = 1) -> Output:
    where = axis_of(x, axis)
    length = opset.gather(shape_of(x), ints([where]), ints([0]))
    stop = opset.subtract(length, i32(size - 1))
    starts = opset.range(i32(0), opset.squeeze(stop), i32(stride), "i32")
    within = opset.constant(np.arange(size, dtype=np.int32))
    return opset.gather(x, opset.add(opset.unsqueeze(starts, ints([1])), within), ints([where]))


def _from_front(x: Output, begin: Output) -> Output:
    """Indices counted from the front, where negative ones count from the end."""
    negative = opset.less(begin, i32(0))
    return opset.select(negative, opset.add(begin, shape_of(x)), begin).output(0)


def _bits(mask: Sequence[bool] | None, count: int) -> list[int]:
    return [int(flag) for flag in mask or [False] * count]


def _where(mask: Sequence[bool] | None, chosen: Sequence[int] | Output, other: Output) -> Output:
    """``chosen`` on the axes of the mask, ``other`` elsewhere."""
    if not mask or not any(mask):
        return other
    if isinstance(chosen, list):
        chosen = opset.constant(np.array(chosen, dtype=np.int32))
    return opset.select(opset.constant(np.array(mask)), chosen, other).output(0)
