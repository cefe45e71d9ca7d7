"""Rotary position embeddings, in the form that OpenVINO has one kernel for.

Programs hold ``x * cosine + concat(-x2, x1) * sine``, x1 and x2 the halves of x's last axis.
OpenVINO sees that only where both halves come from one split, the second is multiplied by a
constant -1, the axis of the concatenation is counted from the end, and all values have four axes
(``RoPEFusionGPTNEOX`` among its transformations). Its kernel computes in fp32 and rounds once.
"""

from __future__ import annotations

from typing import Any

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.graph import i64, ints
from pteron.engines.openvino.passes.flexible_count import Count, at_lowest, flexible_count
from pteron.engines.openvino.passes.graph_walk import constant, maker, replace, static_shape
from pteron.engines.openvino.passes.rotary_pattern import RANK, Rotary, match
from pteron.engines.openvino.passes.target import Target

_MOVES = ("Transpose", "Reshape", "Squeeze", "Unsqueeze", "Convert")
_SLICES = ("Slice", "StridedSlice")


def rotary(model: Any, target: Target) -> int:
    """Write embeddings of values of rank 4 as one kernel for them is found by."""
    if target.exact:
        return 0
    found = [each for node in model.get_ordered_ops() if (each := match(node))]
    found = _fitting(model, [each for each in found if not _is_misread(each.x)])
    for each in reversed(found):  # an x that is itself turned is replaced after its readers
        _rewrite(each)
    return len(found)


def _rewrite(rotary: Rotary) -> None:
    x = rotary.x
    half = int(x.get_partial_shape()[RANK - 1].get_length()) // 2
    parts = opset.variadic_split(x, i64(RANK - 1), ints([half, half]))
    negated = opset.multiply(parts.output(1), opset.constant(-1.0, x.get_element_type()))
    turned = opset.concat([negated.output(0), parts.output(0)], -1)
    total = opset.add(
        opset.multiply(x, _with_all_axes(rotary.cosine)),
        opset.multiply(turned, _with_all_axes(rotary.sine)),
    )
    replace(rotary.total.output(0), total.output(0))


def _with_all_axes(factor: Any) -> Any:
    missing = range(RANK - len(factor.get_partial_shape()))
    return opset.unsqueeze(factor, ints(missing)).output(0) if missing else factor


def _is_misread(x: Any) -> bool:
    """Whether x is a slice of a last axis, transposed, with bounds that OpenVINO 2026.4 misreads.

    It makes the slice part of the kernel, and takes bounds that count from the end, or lie past
    it, for places in memory.
    """
    passed = set()
    while node := maker(x, *_MOVES):
        passed.add(node.get_type_name())
        x = node.input_value(0)
    node = maker(x, *_SLICES) if "Transpose" in passed else None
    if node is None or x.get_partial_shape().rank != RANK:
        return False
    return node.get_type_name() == "Slice" or not _has_plain_bounds(node)


def _has_plain_bounds(strided_slice: Any) -> bool:
    """Whether the last axis is open at an end, which is not made part, or cut inside of it."""
    masks = strided_slice.get_attributes()
    begin, end = (constant(strided_slice.input_value(index)) for index in (1, 2))
    size = strided_slice.get_input_partial_shape(0)[RANK - 1]
    if begin is None or end is None or not begin.size == end.size == RANK or size.is_dynamic:
        return False
    if masks["begin_mask"][-1] or masks["end_mask"][-1]:
        return True
    return bool(0 <= begin[-1] <= end[-1] <= size.get_length())


def _fitting(model: Any, found: list[Rotary]) -> list[Rotary]:
    """Those whose factors the kernel takes, whatever the count."""
    count = flexible_count(model) if found else None
    if count is None:
        return [each for each in found if _fits(each, None)]
    with at_lowest(model, count):
        found = [each for each in found if _fits(each, None)]
    return [each for each in found if _fits(each, count)]


def _fits(rotary: Rotary, count: Count | None) -> bool:
    """Whether each factor has all of x's last axis, and of each other axis all or one."""
    values = (rotary.x, rotary.cosine, rotary.sine)
    x, *factors = (count.shape_of(value) if count else static_shape(value) for value in values)
    return x is not None and all(factor and _is_within(factor, x) for factor in factors)


def _is_within(factor: tuple[int, ...], x: tuple[int, ...]) -> bool:
    if len(factor) > len(x) or factor[-1] != x[-1]:
        return False
    return all(n in (1, size) for n, size in zip(factor[::-1], x[::-1], strict=False))
