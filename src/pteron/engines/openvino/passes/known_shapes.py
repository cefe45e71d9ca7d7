"""Questions for shapes that are known when a model is compiled."""

from __future__ import annotations

from typing import Any

import numpy as np

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.passes.graph_walk import readers, replace, static_shape
from pteron.engines.openvino.passes.target import Target


def known_shapes(model: Any, target: Target) -> int:
    """The shape of a value of known shape becomes a constant, for later passes to see."""
    return sum(map(_answer, model.get_ordered_ops()))


def _answer(node: Any) -> bool:
    shape = static_shape(node.input_value(0)) if node.get_type_name() == "ShapeOf" else None
    if shape is None:
        return False
    answer = opset.constant(np.array(shape, np.int64), node.get_element_type())
    replace(node.output(0), answer.output(0))
    return True


def asks_for_shape(node: Any) -> bool:
    """Whether nothing but the shape of what a node reads comes out of it."""
    if node.get_type_name() == "ShapeOf":
        return True
    is_slice = node.get_type_name() in ("Slice", "StridedSlice")
    return is_slice and all(r.get_type_name() == "ShapeOf" for r in readers(node.output(0)))
