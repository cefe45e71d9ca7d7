"""Rows repeated to the shape of the rows of a state that they replace.

coremltools writes ``state[..., start : start + n] = rows`` with the rows broadcast to the shape of
that slice of the state, which it takes at every call. They have that shape already, at every
start from which they fit.
"""

from __future__ import annotations

from typing import Any

from pteron.engines.openvino.passes.graph_walk import maker, readers, replace, scalar, static_shape
from pteron.engines.openvino.passes.known_shapes import known_shapes
from pteron.engines.openvino.passes.positions import at_every_position, form, position_of
from pteron.engines.openvino.passes.target import Target


def row_repeats(model: Any, target: Target) -> int:
    """Drop repetitions that are by one, whatever the position."""
    known: dict[tuple[str, int], bool] = {}
    count = sum(_drop(node, known) for node in model.get_ordered_ops())
    if count:
        model.validate_nodes_and_infer_types()
        known_shapes(model, target)
    return count


def _drop(tile: Any, known: dict[tuple[str, int], bool]) -> bool:
    starts = _starts(tile) if tile.get_type_name() == "Tile" else None
    if starts is None:
        return False
    repeats = tile.input_value(1)
    claim = form(repeats), starts
    if claim not in known:
        known[claim] = _always_one(repeats, starts)
    if known[claim]:
        replace(tile.output(0), tile.input_value(0))
    return known[claim]


def _starts(tile: Any) -> int | None:
    """From how many positions repeated rows can be written; None where it is not that."""
    found = readers(tile.output(0))
    writes = [node for node in found if node.get_type_name() == "ScatterUpdate"]
    if len(writes) != 1 or not maker(writes[0].input_value(0), "ReadValue"):
        return None
    rows, whole = static_shape(tile.input_value(0)), static_shape(writes[0].input_value(0))
    axis = scalar(writes[0].input_value(3))
    if rows is None or whole is None or axis is None or len(rows) != len(whole):
        return None
    return whole[int(axis)] - rows[int(axis)] + 1


def _always_one(repeats: Any, starts: int) -> bool:
    position = position_of([repeats])
    if position is None or starts < 1:
        return False
    return all((value == 1).all() for (value,) in at_every_position([repeats], position, starts))
