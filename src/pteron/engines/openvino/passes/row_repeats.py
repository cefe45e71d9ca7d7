"""Rows repeated to the shape of the rows of a state that they replace.

coremltools writes ``state[..., start : start + n] = rows`` with the rows broadcast to the shape of
that slice of the state, which it takes at every call. They have that shape already, at every
start from which they fit.
"""

from __future__ import annotations

from typing import Any

from pteron.engines.openvino.passes.calls import Calls
from pteron.engines.openvino.passes.count_shapes import count_shapes
from pteron.engines.openvino.passes.flexible_count import COUNT, Count, flexible_count
from pteron.engines.openvino.passes.graph_walk import (
    readers,
    replace,
    scalar,
    state_read,
    static_shape,
)
from pteron.engines.openvino.passes.known_shapes import known_shapes
from pteron.engines.openvino.passes.positions import at_every_position, form, position_of
from pteron.engines.openvino.passes.target import Target


def row_repeats(model: Any, target: Target) -> int:
    """Drop repetitions that are by one, whatever the position, and the count."""
    flexible = flexible_count(model)
    known: dict[tuple[str, int, int], bool] = {}
    count = sum(_drop(node, flexible, known) for node in model.get_ordered_ops())
    if count:
        model.validate_nodes_and_infer_types()
        known_shapes(model, target)
        count_shapes(model, target)
    return count


def _drop(tile: Any, count: Count | None, known: dict[tuple[str, int, int], bool]) -> bool:
    room = _room(tile) if tile.get_type_name() == "Tile" else None
    if room is None:
        return False
    repeats = tile.input_value(1)
    if room[0] == COUNT and not (count and Calls(count, room[1]).knows(repeats)):
        return False
    claim = form(repeats), *room
    if claim not in known:
        known[claim] = _always_one(repeats, count, *room)
    if known[claim]:
        replace(tile.output(0), tile.input_value(0))
    return known[claim]


def _room(tile: Any) -> tuple[int, int] | None:
    """How many rows are written, or COUNT, and to how many; None where it is not that."""
    found = readers(tile.output(0))
    writes = [node for node in found if node.get_type_name() == "ScatterUpdate"]
    if len(writes) != 1 or state_read(writes[0].input_value(0)) is None:
        return None
    rows, whole = tile.input_value(0).get_partial_shape(), static_shape(writes[0].input_value(0))
    axis = scalar(writes[0].input_value(3))
    if rows.rank.is_dynamic or whole is None or axis is None or len(rows) != len(whole):
        return None
    size = rows[int(axis)]
    return COUNT if size.is_dynamic else int(size.get_length()), whole[int(axis)]


def _always_one(repeats: Any, count: Count | None, written: int, rows: int) -> bool:
    if written == COUNT and count is not None:
        return Calls(count, rows).always([repeats], lambda n, p, value: value == 1)
    position, starts = position_of([repeats]), rows - written + 1
    if position is None or starts < 1:
        return False
    return all((value == 1).all() for (value,) in at_every_position([repeats], position, starts))
