"""Integers that a graph computes from the count and a position, for every call there may be.

Where rows are written, how many, and how often they are repeated, programs compute with a few
operations on a few integers. Done in NumPy for all counts and positions at once, that takes
milliseconds, where OpenVINO would need as many inferences as there are pairs of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.engines.openvino._import import ov
from pteron.engines.openvino.passes.flexible_count import COUNT, Count
from pteron.engines.openvino.passes.graph_walk import constant, static_shape
from pteron.engines.openvino.passes.positions import is_position

Array = NDArray[Any]

_AT_ONCE = 64
"""Counts for which values are held at a time."""

ELEMENTWISE: Mapping[str, Callable[..., Any]] = {
    "Add": np.add,
    "Subtract": np.subtract,
    "Multiply": np.multiply,
    "Minimum": np.minimum,
    "Maximum": np.maximum,
    "Equal": np.equal,
    "NotEqual": np.not_equal,
    "Less": np.less,
    "LessEqual": np.less_equal,
    "Greater": np.greater,
    "GreaterEqual": np.greater_equal,
    "LogicalAnd": np.logical_and,
    "LogicalOr": np.logical_or,
    "LogicalNot": np.logical_not,
    "Select": np.where,
    "Convert": np.asarray,
}
_MOVES = frozenset({"Gather", "StridedSlice", "Slice", "Reshape", "Squeeze", "Unsqueeze"})
_REDUCTIONS = frozenset({"ReduceMax", "ReduceMin", "ReduceSum", "ReduceMean"})


class UnknownError(Exception):
    """An output is not computed from the count and the position by operations known here."""


class Calls:
    """Every count with every position from which so many rows fit; nothing if one fits nowhere.

    Attributes:
        count: the count.
        rows: positions there are.
        position: the input that gives the position, a single int32; the first that is met, where
            it is not said which.
    """

    def __init__(self, count: Count, rows: int, position: Any = None) -> None:
        self.count, self.rows, self.position = count, rows, position

    def always(self, outputs: Sequence[Any], holds: Callable[..., Array]) -> bool:
        """Whether something holds for values of outputs at every call.

        ``holds`` gets counts ``[n, 1]``, positions ``[1, p]`` and the values ``[n or 1, p or 1,
        *shape]``. False also where values cannot be computed here, or a count does not fit.
        """
        return self._always(lambda part: [part.value(output) for output in outputs], holds)

    def counts(self, node: Any) -> bool:
        """Whether a Range always goes from one number to the next, one for each token."""
        return self.always(
            node.input_values(),
            lambda n, p, start, stop, step: (stop - start == n) & (step == 1),
        )

    def always_takes(self, node: Any, holds: Callable[..., Array]) -> bool:
        """The same for a slice's bounds, the first index of every axis and the one after it all."""
        return self._always(lambda part: part.bounds(node), holds)

    def _always(
        self, values: Callable[[_Part], Sequence[Array]], holds: Callable[..., Array]
    ) -> bool:
        if self.count.high > self.rows:
            return False
        try:
            return all(part.all(values(part), holds) for part in self._parts())
        except UnknownError:
            return False

    def knows(self, output: Any) -> bool:
        """Whether values of an output can be computed here."""
        try:
            return bool(self.first(output).size)
        except UnknownError:
            return False

    def sizes(self, target: Any) -> tuple[int, Array] | None:
        """How a shape that is computed goes with the count.

        The one axis that does so, and all sizes, there for one token; None where it does not, or
        cannot be computed here.
        """
        if not self.knows(target):
            return None
        first = self.first(target).reshape(-1)
        for axis in range(len(first)):
            along = np.arange(len(first)) == axis
            sizes = np.where(along, first // self.count.low, first)
            if self.always([target], partial(_grows, along, sizes)):
                return axis, sizes
        return None

    def first(self, output: Any) -> Array:
        """The value at the lowest count and position 0. Raises UnknownError."""
        value: Array = self._first().value(output)[0, 0]
        return value

    def _first(self) -> _Part:
        return _Part(self, np.array([[self.count.low]]), np.array([[0]]))

    def _parts(self) -> Iterator[_Part]:
        """The first call, which tells of most outputs that they are unknown, then all calls."""
        yield self._first()
        positions = np.arange(self.rows)[None, :]
        end = self.count.high + 1
        for low in range(self.count.low, end, _AT_ONCE):
            counts = np.arange(low, min(low + _AT_ONCE, end))[:, None]
            yield _Part(self, counts, positions)


class _Part:
    """Values for some of the calls; those of rows that do not fit are computed and not judged."""

    def __init__(self, calls: Calls, counts: Array, positions: Array) -> None:
        self._calls, self._counts, self._positions = calls, counts, positions
        self._known: dict[tuple[str, int], Array] = {}

    def all(self, values: Sequence[Array], holds: Callable[..., Array]) -> bool:
        held = holds(self._counts, self._positions, *values)
        each = held.reshape(*held.shape[:2], -1).all(axis=2)
        return bool(np.all(each | (self._counts + self._positions > self._calls.rows)))

    def value(self, output: Any) -> Array:
        key = output.get_node().get_name(), output.get_index()
        if key not in self._known:
            with np.errstate(all="ignore"):
                self._known[key] = self._compute(output.get_node())
        return self._known[key]

    def _compute(self, node: Any) -> Array:
        kind = node.get_type_name()
        if kind == "Constant":
            return np.asarray(node.data)[None, None]
        if kind == "Parameter":
            self._calls.position = self._calls.position or node
            if node != self._calls.position or not is_position(node):
                raise UnknownError
            return self._positions.astype(np.int32).reshape(1, -1, *_static(node.output(0)))
        if kind == "ShapeOf":
            return self._shape(node.input_value(0)).astype(_dtype(node))
        if kind == "Concat":
            return self._joined(node)
        if kind in ELEMENTWISE or (kind == "Divide" and np.issubdtype(_dtype(node), np.floating)):
            return self._elementwise(node, ELEMENTWISE.get(kind, np.divide))
        return self._moved(node)

    def _elementwise(self, node: Any, compute: Callable[..., Any]) -> Array:
        rank = len(_static(node.output(0)))
        values = [self.value(value) for value in node.input_values()]
        padded = [v.reshape(*v.shape[:2], *[1] * (rank + 2 - v.ndim), *v.shape[2:]) for v in values]
        return np.asarray(compute(*padded)).astype(_dtype(node), copy=False)

    def _joined(self, node: Any) -> Array:
        values = [self.value(value) for value in node.input_values()]
        lead = np.broadcast_shapes(*(value.shape[:2] for value in values))
        whole = [np.broadcast_to(value, (*lead, *value.shape[2:])) for value in values]
        axis = node.get_attributes()["axis"]
        return np.concatenate(whole, axis=axis + 2 if axis >= 0 else axis)

    def _moved(self, node: Any) -> Array:
        """What an operation does that only moves elements, found by moving their indices."""
        places = places_taken(node)
        value = self.value(node.input_value(0))
        flat = value.reshape(*value.shape[:2], -1)
        taken: Array = flat[:, :, places.reshape(-1)]
        return taken.reshape(*value.shape[:2], *places.shape)

    def _shape(self, output: Any) -> Array:
        shape = self._calls.count.shape_of(output)
        if shape is not None:
            each = [self._counts if n == COUNT else np.full((1, 1), n) for n in shape]
            return np.stack(np.broadcast_arrays(*each), axis=-1)
        start, stop = self.bounds(output.get_node())
        sizes: Array = np.maximum(stop - start, 0)
        return sizes

    def bounds(self, node: Any) -> tuple[Array, Array]:
        """First index of every axis that a StridedSlice takes, and the one after the last."""
        whole = np.array(_static(node.input_value(0)))
        if node.get_type_name() != "StridedSlice" or not _is_plain(node, len(whole)):
            raise UnknownError
        edges = []
        for index, mask, edge in ((1, "begin_mask", 0 * whole), (2, "end_mask", whole)):
            asked = self.value(node.input_value(index)).astype(np.int64)
            asked = np.clip(np.where(asked < 0, asked + whole, asked), 0, whole)
            masked = np.array(node.get_attributes()[mask] or [0] * len(whole), np.bool_)
            edges.append(np.where(masked, edge, asked))
        return edges[0], edges[1]


def _grows(along: Array, sizes: Array, count: Array, position: Array, shape: Array) -> Array:
    held: Array = shape == sizes * np.where(along, count[..., None], 1)
    return held


def places_taken(node: Any) -> NDArray[np.int32]:
    """Flat indices, in the first input, of the elements of an output."""
    kind = node.get_type_name()
    if kind not in _MOVES | _REDUCTIONS:
        raise UnknownError
    source = node.input_value(0)
    size = int(np.prod(_static(source)))
    if kind in _REDUCTIONS and size != 1:
        raise UnknownError
    given = [np.arange(size, dtype=np.int32).reshape(_static(source))]
    for value in node.input_values()[1:]:
        fixed = constant(value)
        if fixed is None:
            raise UnknownError
        given.append(fixed.astype(value.get_element_type().to_dtype()))
    taken = np.empty(_static(node.output(0)), np.int32)
    tensors = [ov.Tensor(np.array(value, order="C")) for value in given]
    if not node.evaluate([ov.Tensor(taken, shared_memory=True)], tensors):
        raise UnknownError
    return taken


def _is_plain(node: Any, rank: int) -> bool:
    """Whether a StridedSlice keeps all axes and takes every element between its bounds."""
    attributes = node.get_attributes()
    others = ("new_axis_mask", "shrink_axis_mask", "ellipsis_mask")
    steps = constant(node.input_value(3)) if node.get_input_size() > 3 else np.ones(rank)
    if any(any(attributes[name]) for name in others) or steps is None or np.any(steps != 1):
        return False
    return all(static_shape(node.input_value(index)) == (rank,) for index in (1, 2))


def _static(output: Any) -> tuple[int, ...]:
    shape = static_shape(output)
    if shape is None:
        raise UnknownError
    return shape


def _dtype(node: Any) -> Any:
    return node.get_output_element_type(0).to_dtype()
