"""Values that hold, for each token of a call, a block that depends on its position only.

A mask, say, is computed from the positions ``p + i`` of all tokens i: as long as each operation
treats every block alike and for itself, block i is ``f(p + i)`` with one f for every count and
every p. What f is, one count then tells for all. That an operation does so is read off the graph;
which operations are known to, the methods of :class:`TokenRows` say. Whatever else there is makes
a value an unknown one.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.engines.openvino.passes.calls import ELEMENTWISE, Calls, UnknownError
from pteron.engines.openvino.passes.graph_walk import scalar, static_shape
from pteron.engines.openvino.passes.positions import depends_on_call

_BLOCKWISE = frozenset(ELEMENTWISE) | {"Abs", "Clamp", "Divide", "LogicalXor", "Negative"}


@dataclass(frozen=True)
class Blocks:
    """Blocks of one shape, one per token in order, and nothing else.

    Attributes:
        shape: of the value, with the rows of one token at ``axis``; all axes before it are 1.
        axis: the axis along which blocks lie.
        indices: block i is not f(p + i) but the number i, and perhaps a constant.
    """

    shape: tuple[int, ...]
    axis: int
    indices: bool = False

    @property
    def size(self) -> int:
        """Elements of a block."""
        return int(np.prod(self.shape))


class TokenRows:
    """Finds the blocks that values are made of."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._known: dict[tuple[str, int], Blocks | None] = {}

    def blocks(self, output: Any) -> Blocks | None:
        """The blocks of an output; None where it is not seen to be made of them."""
        key = output.get_node().get_name(), output.get_index()
        if key not in self._known:
            self._known[key] = self._find(output)
        return self._known[key]

    def _find(self, output: Any) -> Blocks | None:
        node = output.get_node()
        kind = node.get_type_name()
        if kind in ("Reshape", "Squeeze", "Unsqueeze"):
            return self._reshaped(output)
        if kind in _BLOCKWISE:
            return self._with_position(node) or self._blockwise(node)
        known = {
            "Broadcast": self._filled,
            "Gather": self._gathered,
            "Range": self._range,
            "StridedSlice": self._sliced,
            "Tile": self._tiled,
        }
        return known[kind](node) if kind in known else None

    def _range(self, node: Any) -> Blocks | None:
        start = node.input_value(0)
        if not self._calls.counts(node):
            return None
        if self._constant(start) is not None:
            return Blocks((1,), 0, indices=True)
        return Blocks((1,), 0) if self._is_position(start) else None

    def _filled(self, node: Any) -> Blocks | None:
        """One number, for every token as often."""
        if self._fixed_shape(node.input_value(0)) not in ((), (1,)):
            return None
        found = self._calls.sizes(node.input_value(1))
        if found is None or np.any(found[1][: found[0]] != 1):
            return None
        axis, sizes = found
        return Blocks(tuple(int(size) for size in sizes), axis)

    def _reshaped(self, output: Any) -> Blocks | None:
        """Elements stay in order, so blocks do, whatever the axes."""
        blocks, shape = self.blocks(output.get_node().input_value(0)), output.get_partial_shape()
        if blocks is None or shape.rank.is_dynamic:
            return None
        flexible = [axis for axis, size in enumerate(shape) if size.is_dynamic]
        if len(flexible) != 1:
            return None
        (axis,) = flexible
        sizes = [1 if size.is_dynamic else int(size.get_length()) for size in shape]
        each, rest = divmod(blocks.size, int(np.prod(sizes)))
        if rest or not each or any(size != 1 for size in sizes[:axis]):
            return None
        return Blocks((*sizes[:axis], each, *sizes[axis + 1 :]), axis, blocks.indices)

    def _with_position(self, node: Any) -> Blocks | None:
        """The position added to every token's index."""
        if node.get_type_name() != "Add":
            return None
        for one, other in ((0, 1), (1, 0)):
            blocks = self.blocks(node.input_value(one))
            if blocks and blocks.indices and self._is_position(node.input_value(other)):
                return Blocks(blocks.shape, blocks.axis)
        return None

    def _is_position(self, output: Any) -> bool:
        """Whether one number, of rank 1 at most, is the position and a constant."""
        if static_shape(output) not in ((), (1,)):
            return False
        try:
            offset = self._calls.first(output).reshape(())
        except UnknownError:
            return False
        return self._calls.always([output], lambda n, p, v: v.reshape(v.shape[:2]) == p + offset)

    def _blockwise(self, node: Any) -> Blocks | None:
        """Element by element with values that are the same for every token."""
        inputs = node.input_values()
        rank = int(node.output(0).get_partial_shape().rank.get_length())
        found = [blocks for value in inputs if (blocks := self.blocks(value))]
        places = {
            (rank - len(blocks.shape) + blocks.axis, blocks.shape[blocks.axis]) for blocks in found
        }
        if len(places) != 1 or not self._keeps_indices(node, found):
            return None
        ((axis, _),) = places
        shapes = [blocks.shape for blocks in found]
        for value in inputs:
            if self.blocks(value):
                continue
            fixed = self._fixed_shape(value)
            if fixed is None or any(n != 1 for n in fixed[: max(axis + 1 - rank + len(fixed), 0)]):
                return None
            shapes.append(fixed)
        return Blocks(np.broadcast_shapes(*shapes), axis, found[0].indices)

    def _keeps_indices(self, node: Any, found: list[Blocks]) -> bool:
        """Indices stay what they are when they are converted or multiplied by one."""
        if not any(blocks.indices for blocks in found):
            return True
        by_one = [scalar(value) == 1 for value in node.input_values()]
        kind = node.get_type_name()
        return len(found) == 1 and (kind == "Convert" or (kind == "Multiply" and any(by_one)))

    def _tiled(self, node: Any) -> Blocks | None:
        """Repeated inside of blocks only, always as often."""
        blocks, repeats = self.blocks(node.input_value(0)), node.input_value(1)
        times = self._constant(repeats) if blocks else None
        if blocks is None or times is None or times.shape != (len(blocks.shape),):
            return None
        if np.any(times[: blocks.axis + 1] != 1):
            return None
        shape = np.array(blocks.shape) * times
        return Blocks(tuple(int(size) for size in shape), blocks.axis)

    def _gathered(self, node: Any) -> Blocks | None:
        """Rows of a table, looked up by what there is for each token."""
        table, axis = self._fixed_shape(node.input_value(0)), scalar(node.input_value(2))
        blocks = self.blocks(node.input_value(1))
        if table is None or blocks is None or axis is None or blocks.indices:
            return None
        axis = int(axis) % len(table)
        if any(size != 1 for size in table[:axis]) or node.get_attributes().get("batch_dims"):
            return None
        return Blocks((*table[:axis], *blocks.shape, *table[axis + 1 :]), axis + blocks.axis)

    def _sliced(self, node: Any) -> Blocks | None:
        """Rows of a table from the position on, one for each token."""
        table = self._fixed_shape(node.input_value(0))
        if table is None:
            return None
        axis = next((axis for axis, size in enumerate(table) if size != 1), 0)
        others = np.arange(len(table)) != axis

        def holds(n: Any, p: Any, start: Any, stop: Any) -> Any:
            rest = (start == 0) & (stop == np.array(table))
            along = (start[..., axis] == p) & (stop[..., axis] == p + n)
            return rest[..., others].all(axis=-1) & along

        if not self._calls.always_takes(node, holds):
            return None
        return Blocks((*table[:axis], 1, *table[axis + 1 :]), axis)

    def _constant(self, output: Any) -> NDArray[Any] | None:
        """The value of an output, if it is one for all calls."""
        try:
            first = self._calls.first(output)
        except UnknownError:
            return None
        return first if self._calls.always([output], lambda n, p, v: v == first) else None

    def _fixed_shape(self, output: Any) -> tuple[int, ...] | None:
        """The shape of what is the same for all calls."""
        is_fixed = not depends_on_call(output) or self._constant(output) is not None
        return static_shape(output) if is_fixed else None
