"""Questions for shapes that go with the count, answered from the one input that has it.

Exported programs ask late values how many tokens there are, and count to it. Once the answers come
from the input, OpenVINO sees which axes of all other values have that size, and later passes see
it too.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.passes.calls import Calls
from pteron.engines.openvino.passes.flexible_count import (
    COUNT,
    Count,
    at_lowest,
    count_of,
    flexible_count,
)
from pteron.engines.openvino.passes.graph_walk import replace, static_shape
from pteron.engines.openvino.passes.target import Target


def count_shapes(model: Any, target: Target) -> int:
    """Answer such questions in models with attention; those of known shape others answer."""
    count, rows = flexible_count(model), _rows(model)
    if count is None or not rows:
        return 0
    work, total = _Answers(model, count, rows), 0
    while changed := work.count_ranges() + work.count_fills() + work.answer():
        total += changed
    return total


def _rows(model: Any) -> int:
    """Of the longest cache that attention is over."""
    nodes = model.get_ordered_ops()
    keys = [n.input_value(1) for n in nodes if n.get_type_name() == "ScaledDotProductAttention"]
    return max((shape[-2] for key in keys if (shape := static_shape(key))), default=0)


class _Answers:
    def __init__(self, model: Any, count: Count, rows: int) -> None:
        self._model, self._count, self._rows = model, count, rows
        self._counted: set[str] = set()
        self._sizes: dict[str, Any] = {}

    def count_ranges(self) -> int:
        """Note at ranges from one number to the next that they are as long as the count says."""
        found = [n for n in self._model.get_ordered_ops() if n.get_type_name() == "Range"]
        new = [n for n in found if n.get_name() not in self._counted and self._is_count(n)]
        for node in new:
            self._counted.add(node.get_name())
            readers = list(node.output(0).get_target_inputs())
            noted = opset.reshape(node.output(0), self._size("i64"), False)
            for reader in readers:
                reader.replace_source_output(noted.output(0))
        return self._validated(len(new))

    def count_fills(self) -> int:
        """Fill values to a shape that goes with the count, computed as it may be, by the count."""
        nodes = [n for n in self._model.get_ordered_ops() if n.get_type_name() == "Broadcast"]
        new = [n for n in nodes if n.get_name() not in self._counted]
        unknown = [n for n in new if self._count.shape_of(n.output(0)) is None]
        found = [(node, shape) for node in unknown if (shape := self._filled(node))]
        for node, shape in found:
            self._counted.add(node.get_name())
            target = node.input_value(1).get_node()
            node.input(1).replace_source_output(self._shape(shape, target))
        return self._validated(len(found))

    def answer(self) -> int:
        nodes = [n for n in self._model.get_ordered_ops() if n.get_type_name() == "ShapeOf"]
        asked = [n for n in nodes if n.input_value(0).get_node() != self._count.parameter]
        shapes = {n.get_name(): self._count.shape_of(n.input_value(0)) for n in asked}
        with at_lowest(self._model, self._count):
            right = [n for n in asked if self._is_right(n, shapes[n.get_name()])]
        for node in right:
            replace(node.output(0), self._shape(shapes[node.get_name()] or (), node))
        return self._validated(len(right))

    def _is_count(self, node: Any) -> bool:
        return Calls(self._count, self._rows).counts(node)

    def _filled(self, node: Any) -> tuple[int, ...] | None:
        """The shape that a value is always filled to, the count on one of its axes."""
        found = Calls(self._count, self._rows).sizes(node.input_value(1))
        if found is None or found[1][found[0]] != 1:
            return None
        axis, sizes = found
        return tuple(COUNT if at == axis else int(size) for at, size in enumerate(sizes))

    def _is_right(self, node: Any, shape: tuple[int, ...] | None) -> bool:
        """Whether a shape is so at the lowest count, at which a symbol may mislead."""
        low = self._count.low
        fixed = static_shape(node.input_value(0))
        return shape is not None and fixed == tuple(low if n == COUNT else n for n in shape)

    def _shape(self, shape: tuple[int, ...], node: Any) -> Any:
        kind = node.get_element_type().get_type_name()
        dtype = node.get_element_type().to_dtype()
        parts = [
            self._size(kind) if n == COUNT else opset.constant(np.array([n], dtype)) for n in shape
        ]
        return opset.concat(parts, 0).output(0)

    def _size(self, kind: str) -> Any:
        """The count, ``[1]``."""
        if kind not in self._sizes:
            self._sizes[kind] = count_of(self._count, kind)
        return self._sizes[kind]

    def _validated(self, changed: int) -> int:
        if changed:
            self._model.validate_nodes_and_infer_types()
        return changed
