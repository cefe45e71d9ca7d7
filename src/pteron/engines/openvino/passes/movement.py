"""What a chain of operations that only move elements does, found by moving indices through it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.engines.openvino.passes.graph_walk import constant, same, static_shape

_SHAPES = frozenset({"Reshape", "Unsqueeze", "Squeeze", "Convert"})
_MOVES = _SHAPES | {"Transpose", "Tile", "Broadcast"}


def moved(output: Any, source: Any) -> NDArray[np.int32] | None:
    """Where each element of ``output`` comes from: its flat index in ``source``.

    None where more than moves, or an unknown shape, lies between the two. Conversions between
    float types count as moves.
    """
    shape = static_shape(source)
    if shape is None:
        return None
    indices = np.arange(int(np.prod(shape)), dtype=np.int32).reshape(shape)
    for node in reversed(list(_chain(output, source))):
        step = None if node is None else _step(node, indices)
        if step is None:
            return None
        indices = step
    return indices


def _chain(output: Any, source: Any) -> Iterator[Any]:
    """Nodes from ``output`` back to ``source``; None as the last one where it is not reached."""
    while not same(output, source):
        node = output.get_node()
        if node.get_type_name() not in _MOVES:
            yield None
            return
        yield node
        output = node.input_value(0)


def _step(node: Any, indices: NDArray[np.int32]) -> NDArray[np.int32] | None:
    kind, shape = node.get_type_name(), static_shape(node.output(0))
    if shape is None:
        return None
    if kind in _SHAPES:
        return indices.reshape(shape)
    if kind == "Transpose":
        order = constant(node.input_value(1))
        return None if order is None or not order.size else indices.transpose(order.tolist())
    if kind == "Tile":
        return _tile(indices, shape)
    if node.get_attributes()["mode"].upper() not in ("NUMPY", "BIDIRECTIONAL"):
        return None
    return np.broadcast_to(indices, shape)


def _tile(indices: NDArray[np.int32], shape: tuple[int, ...]) -> NDArray[np.int32]:
    """Repeat as often as the shape says, which with known shapes says it all."""
    aligned = (1,) * (len(shape) - indices.ndim) + indices.shape
    return np.tile(indices, [size // old for size, old in zip(shape, aligned, strict=True)])
