"""Rotary position embeddings, as they look in a translated graph."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from pteron.engines.openvino.passes.graph_walk import constant, maker, operands, same, scalar

RANK = 4
"""Of values that are looked for; the last axis is the one that is turned."""
_LAST = RANK - 1
_OTHER_MASKS = ("new_axis_mask", "shrink_axis_mask", "ellipsis_mask")


@dataclass(frozen=True)
class Rotary:
    """``x * cosine + concat(-x2, x1) * sine``, x1 and x2 the halves of x's last axis.

    Attributes:
        total: the sum's node.
        x: of rank 4.
        cosine, sine: of any shape that x can be multiplied with.
    """

    total: Any
    x: Any
    cosine: Any
    sine: Any


@dataclass(frozen=True)
class _Half:
    """The first half of x's last axis, or the second, with all of the other axes."""

    x: Any
    second: bool


def match(total: Any) -> Rotary | None:
    """The embedding that a node is the sum of, however its operands are ordered."""
    if total.get_type_name() != "Add" or not total.get_output_element_type(0).is_real():
        return None
    for one, other in operands(total):
        turned, straight = maker(one, "Multiply"), maker(other, "Multiply")
        if turned is None or straight is None:
            return None
        for value, sine in operands(turned):
            x = _turned(value)
            cosine = None if x is None else _other_operand(straight, x)
            if cosine is not None:
                return Rotary(total, x, cosine, sine)
    return None


def _other_operand(node: Any, value: Any) -> Any:
    return next((other for one, other in operands(node) if same(one, value)), None)


def _turned(output: Any) -> Any:
    """x, if an output is ``concat(-x2, x1)``; else None."""
    concat = maker(output, "Concat")
    if concat is None or concat.get_input_size() != 2:
        return None
    if concat.get_attributes()["axis"] not in (-1, _LAST):
        return None
    negated = _negated(concat.input_value(0))
    second = None if negated is None else _half(negated)
    first = _half(concat.input_value(1))
    if first is None or second is None or first.second or not second.second:
        return None
    return first.x if same(first.x, second.x) else None


def _negated(output: Any) -> Any:
    """What an output is the negative of; None where that is not seen."""
    node = maker(output, "Negative", "Multiply", "Subtract")
    if node is None:
        return None
    if node.get_type_name() == "Negative":
        return node.input_value(0)
    if node.get_type_name() == "Subtract":
        return node.input_value(1) if scalar(node.input_value(0)) == 0 else None
    return next((one for one, other in operands(node) if scalar(other) == -1), None)


def _half(output: Any) -> _Half | None:
    node = maker(output, "Split", "VariadicSplit", "StridedSlice")
    if node is None:
        return None
    shapes = node.input_value(0).get_partial_shape(), output.get_partial_shape()
    if any(shape.rank != RANK for shape in shapes):
        return None
    width, half = (shape[_LAST] for shape in shapes)
    if width.is_dynamic or half.is_dynamic or 2 * half.get_length() != width.get_length():
        return None
    start = _part_start(output) if node.get_output_size() > 1 else _slice_start(node)
    if start not in (0, half.get_length()):
        return None
    return _Half(node.input_value(0), second=start != 0)


def _part_start(output: Any) -> int | None:
    """Where a part begins that a value is split into along its last axis."""
    node = output.get_node()
    if scalar(node.input_value(1)) not in (-1, _LAST):
        return None
    before = [node.output(at).get_partial_shape()[_LAST] for at in range(output.get_index())]
    return sum(int(size.get_length()) for size in before)


def _slice_start(node: Any) -> int | None:
    """Where a slice begins along the last axis, if it has all of the other axes."""
    begin, end, steps = (constant(node.input_value(index)) for index in (1, 2, 3))
    masks = node.get_attributes()
    if begin is None or end is None or steps is None or any(any(masks[m]) for m in _OTHER_MASKS):
        return None
    if not begin.size == end.size == steps.size == RANK or np.any(steps != 1):
        return None
    start = np.where(masks["begin_mask"], 0, begin)
    most = np.array([size.get_max_length() for size in node.get_input_partial_shape(0)])
    has_end = np.array(masks["end_mask"], np.bool_) | ((most >= 0) & (end >= most))
    if np.any(start[:_LAST]) or not np.all(has_end[:_LAST]):
        return None
    last = int(start[_LAST])
    return last if last >= 0 else last + int(most[_LAST])
