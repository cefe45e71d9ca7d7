"""The size of a method's inputs that its callers choose, where there is one: the count.

Of a decoder it is the number of tokens of a call. OpenVINO follows it through a graph by a symbol,
so that an axis of another value is known to have that size without either being known.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import prod
from typing import Any

import numpy as np

from pteron.engines.openvino._import import opset, ov

COUNT = -1
"""Stands for the count in a shape."""


@dataclass(frozen=True)
class Count:
    """The only size that is not fixed: axis ``axis`` of one input, ``low`` to ``high``."""

    parameter: Any
    axis: int
    low: int
    high: int
    symbol: Any

    def shape_of(self, output: Any) -> tuple[int, ...] | None:
        """The shape of an output, COUNT for the count; None unless all of it is known.

        What a broadcast with the count is known to be is wrong where the count is 1 and the other
        size is not: OpenVINO takes the symbol all the same. So at 1 somebody has to look.
        """
        shape = output.get_partial_shape()
        if shape.rank.is_dynamic:
            return None
        sizes = [self._size(dimension) for dimension in shape]
        return None if None in sizes else tuple(size for size in sizes if size is not None)

    def elements(self, output: Any) -> int | None:
        """How many elements an output has for each of the count; None if that is not seen."""
        shape, node = self.shape_of(output), output.get_node()
        if shape is not None:
            return -prod(shape) if shape.count(COUNT) == 1 else None
        moves_none = node.get_type_name() in ("Reshape", "Squeeze", "Unsqueeze")
        return self.elements(node.input_value(0)) if moves_none else None

    def _size(self, dimension: Any) -> int | None:
        if dimension.is_static:
            return int(dimension.get_length())
        if dimension.has_symbol() and dimension.get_symbol() == self.symbol:
            return COUNT
        return None


def flexible_count(model: Any) -> Count | None:
    """The count of a model; None where nothing, or more than one size, is flexible."""
    flexible = [p for p in model.get_parameters() if p.get_partial_shape().is_dynamic]
    if len(flexible) != 1 or flexible[0].get_partial_shape().rank.is_dynamic:
        return None
    (parameter,) = flexible
    shape = parameter.get_partial_shape()
    axes = [axis for axis, size in enumerate(shape) if size.is_dynamic]
    low, high = shape[axes[0]].get_min_length(), shape[axes[0]].get_max_length()
    if len(axes) != 1 or low < 1 or high < low:
        return None
    return Count(parameter, axes[0], low, high, _symbol(model, parameter, axes[0]))


def _symbol(model: Any, parameter: Any, axis: int) -> Any:
    shape = parameter.get_partial_shape()
    dimension = shape[axis]
    if not dimension.has_symbol():
        dimension.set_symbol(ov.Symbol())
        shape[axis] = dimension
        parameter.set_partial_shape(shape)
        model.validate_nodes_and_infer_types()
    return dimension.get_symbol()


@contextmanager
def at_lowest(model: Any, count: Count) -> Iterator[None]:
    """Within, all shapes of the model are those of the lowest count."""
    flexible = count.parameter.get_partial_shape()
    fixed = ov.PartialShape(flexible)
    fixed[count.axis] = ov.Dimension(count.low)
    count.parameter.set_partial_shape(fixed)
    model.validate_nodes_and_infer_types()
    try:
        yield
    finally:
        count.parameter.set_partial_shape(flexible)
        model.validate_nodes_and_infer_types()


def count_of(count: Count, kind: str) -> Any:
    """The count as an output ``[1]``, of type ``i32`` or ``i64``."""
    shape = opset.shape_of(count.parameter, kind)
    axis = opset.constant(np.array([count.axis]))
    return opset.gather(shape, axis, opset.constant(np.int64(0))).output(0)
