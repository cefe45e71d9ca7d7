"""Pooling over 1 to 3 axes (coremltools ``ops/defs/iOS15/pool.py``)."""

from __future__ import annotations

import math
from typing import Any

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import Flag, Floats, IntList, Text
from pteron.engines.openvino.graph import i32, ints, like, rank
from pteron.engines.openvino.ops.conv import auto_pad, pads
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.values import Output


@mil_op()
def avg_pool(
    x: Floats,
    kernel_sizes: IntList,
    pad_type: Text,
    strides: IntList | None = None,
    pad: IntList | None = None,
    exclude_padding_from_average: Flag = False,
    ceil_mode: Flag = False,
) -> Output:
    window = _window(x, pad_type, strides, pad, ceil_mode)
    out = opset.avg_pool(
        x, kernel_shape=kernel_sizes, exclude_pad=exclude_padding_from_average, **window
    )
    if not ceil_mode or exclude_padding_from_average:
        return out
    # The average counts the padding, but not what ceil mode reaches beyond it: so make the padding
    # part of the tensor, and drop the windows that then begin inside it.
    padded = _zero_padded(x, window["pads_begin"], window["pads_end"])
    window = _window(padded, "valid", strides, None, ceil_mode)
    more = opset.avg_pool(padded, kernel_shape=kernel_sizes, exclude_pad=True, **window)
    count = rank(x)
    return opset.slice(more, i32([0] * count), opset.shape_of(out, "i32"), i32([1] * count))


@mil_op()
def l2_pool(
    x: Floats,
    kernel_sizes: IntList,
    pad_type: Text,
    strides: IntList | None = None,
    pad: IntList | None = None,
    ceil_mode: Flag = False,
) -> Output:
    window = _window(x, pad_type, strides, pad, ceil_mode)
    mean = opset.avg_pool(
        opset.multiply(x, x), kernel_shape=kernel_sizes, exclude_pad=False, **window
    )
    return opset.sqrt(opset.multiply(mean, like(x, math.prod(kernel_sizes))))


@mil_op()
def max_pool(
    x: Floats,
    kernel_sizes: IntList,
    pad_type: Text,
    strides: IntList | None = None,
    pad: IntList | None = None,
    ceil_mode: Flag = False,
) -> Output:
    window = _window(x, pad_type, strides, pad, ceil_mode)
    ones = [1] * len(kernel_sizes)
    return opset.max_pool(x, kernel_shape=kernel_sizes, dilations=ones, **window).output(0)


def _zero_padded(x: Output, before: list[int], after: list[int]) -> Output:
    begin, end = ints([0, 0, *before]), ints([0, 0, *after])
    return opset.pad(x, begin, end, "constant", like(x, 0)).output(0)


def _window(
    x: Output,
    pad_type: str,
    strides: list[int] | None,
    pad: list[int] | None,
    ceil_mode: bool,
) -> dict[str, Any]:
    axes = rank(x) - 2
    before, after = pads(pad if pad_type == "custom" else None, axes)
    return {
        "strides": strides or [1] * axes,
        "pads_begin": before,
        "pads_end": after,
        "rounding_type": "ceil_torch" if ceil_mode else "floor",
        "auto_pad": auto_pad(pad_type),
    }
