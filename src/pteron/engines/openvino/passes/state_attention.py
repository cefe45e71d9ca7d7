"""Attention over a key-value cache that is a state, with the state updated in place.

What programs hold: rows of keys and values are written into two states at a position
(``slice_update``), all rows are read, often repeated for query heads that share them, and a mask
hides those after the position. OpenVINO copies such a state several times per call and looks at
all of it. Its paged attention writes the rows in place, shares keys between query heads, and reads
rows up to the position only. The states become parameters, whose memory sessions own.

It is applied where the two can be seen to agree at every position, and for every number of tokens
that a call may have: the rows are written there, and the mask hides exactly those after each
query's. A position at which rows would reach past the end is moved back, as ``slice_update`` does;
negative ones are taken as 0.
"""

from __future__ import annotations

from math import prod
from typing import Any

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.graph import i32, ints
from pteron.engines.openvino.passes.attention_pattern import Attention, Cache, match
from pteron.engines.openvino.passes.causality import with_causal_mask
from pteron.engines.openvino.passes.every_count import Placed, at_every_count
from pteron.engines.openvino.passes.flexible_count import (
    Count,
    at_lowest,
    count_of,
    flexible_count,
)
from pteron.engines.openvino.passes.graph_walk import replace, static_shape
from pteron.engines.openvino.passes.paged_attention import (
    BLOCK,
    Sequences,
    attend,
    available,
    one_sequence,
    one_sequence_each,
    pages,
)
from pteron.engines.openvino.passes.target import Page, Target

_FEW = 64
"""Tokens that, each a sequence of its own in fp16, take less time than attention as written."""


def state_attention(model: Any, target: Target) -> int:
    """Replace every attention of which it can be seen that paged attention agrees with it."""
    if target.exact or not available():
        return 0
    count = flexible_count(model)
    found = _fixed(model) if count is None else _flexible(model, count)
    found = [(a, position) for a, position in found if _is_worth_it(a, count, target.hint)]
    calls = _Calls(count, target.hint)
    for attention, position in found:
        _replace(model, attention, calls.sequences(attention, position), target)
    return len(found)


def _is_worth_it(attention: Attention, count: Count | None, hint: str) -> bool:
    """Whether paged attention is no less exact in this precision, and no slower."""
    is_rounded = attention.keys.rounded and attention.values.rounded
    if hint != "bf16" and not is_rounded:  # bf16 rounds all that attention reads
        return False
    return hint != "f16" or count is not None or attention.queries <= _FEW


def _fixed(model: Any) -> list[Placed]:
    nodes = model.get_ordered_ops()
    return with_causal_mask([attention for node in nodes if (attention := match(node))])


def _flexible(model: Any, count: Count) -> list[Placed]:
    with at_lowest(model, count):
        found = _fixed(model)
    return at_every_count(found, count)


class _Calls:
    """The kernel's view of a call's tokens, one for all attentions to the same rows."""

    def __init__(self, count: Count | None, hint: str) -> None:
        self._count, self._hint = count, hint
        self._made: dict[tuple[str, int, int], Sequences] = {}

    def sequences(self, attention: Attention, position: Any) -> Sequences:
        rows, queries = attention.keys.shape[2], attention.queries
        alike = position.get_name(), rows, queries
        if alike not in self._made:
            count = count_of(self._count, "i32") if self._count else i32([queries])
            last = opset.subtract(i32([rows]), count)
            asked = opset.maximum(_reshape(position.output(0), [1]), i32([0]))
            # OpenVINO 2026.4's fp16 kernel is wrong for several queries of one sequence at once.
            split = self._hint == "f16" and (self._count is not None or queries > 1)
            make = one_sequence_each if split else one_sequence
            self._made[alike] = make(opset.minimum(asked, last), count, -(-rows // BLOCK))
        return self._made[alike]


def _replace(model: Any, attention: Attention, sequences: Sequences, target: Target) -> None:
    keys, values = attention.keys, attention.values
    _, heads, rows, size = keys.shape
    kind = attention.node.get_input_element_type(0)
    caches = (pages(heads, rows, size), pages(heads, rows, size))
    paged = attend(
        _queries_flat(attention),
        _rows_flat(keys, kind),
        _rows_flat(values, kind),
        caches,
        sequences,
        rows,
        attention.scale,
    )
    replace(attention.node.output(0), _queries_back(attention, paged))
    for cache, parameter in zip((keys, values), caches, strict=True):
        _become_parameter(model, cache, parameter)
        target.pages.append(Page(cache.state, parameter, cache.shape))


def _become_parameter(model: Any, cache: Cache, parameter: Any) -> None:
    parameter.friendly_name = f"{cache.state}~pages"
    model.add_parameters([parameter])
    model.remove_sink(cache.assign)
    model.remove_variable(model.get_variable_by_id(cache.state))


def _queries_flat(attention: Attention) -> Any:
    """``[n, heads * size]``, heads that share keys side by side."""
    _, heads, _, size = attention.keys.shape
    query, width = attention.node.input_value(0), heads * attention.group * size
    if _is_one(query, width):
        return _reshape(query, [1, width])
    if attention.grouped:
        apart = _transpose(_reshape(query, [heads, -1, attention.group, size]), [1, 0, 2, 3])
    else:
        apart = _transpose(query, [0, 2, 1, 3])
    return _reshape(apart, [-1, width])


def _queries_back(attention: Attention, paged: Any) -> Any:
    """The shape of the attention that is replaced."""
    _, heads, _, size = attention.keys.shape
    query, group = attention.node.input_value(0), attention.group
    if _is_one(query, heads * group * size):
        return _reshape(paged, [1, -1, group, size] if attention.grouped else [1, -1, 1, size])
    if attention.grouped:
        apart = _transpose(_reshape(paged, [-1, heads, group, size]), [1, 0, 2, 3])
        return _reshape(apart, [1, heads, -1, size])
    return _transpose(_reshape(paged, [1, -1, heads * group, size]), [0, 2, 1, 3])


def _rows_flat(cache: Cache, kind: Any) -> Any:
    """``[1, heads, n, size]`` -> ``[n, heads * size]``, of an element type."""
    _, heads, _, size = cache.shape
    rows = opset.convert(cache.rows, kind).output(0)
    ordered = rows if _is_one(rows, heads * size) else _transpose(rows, [0, 2, 1, 3])
    return _reshape(ordered, [-1, heads * size])


def _is_one(value: Any, width: int) -> bool:
    """Whether a value is known to be of one token."""
    shape = static_shape(value)
    return shape is not None and prod(shape) == width


def _reshape(value: Any, shape: list[int]) -> Any:
    return opset.reshape(value, ints(shape), False).output(0)


def _transpose(value: Any, order: list[int]) -> Any:
    return opset.transpose(value, ints(order)).output(0)
