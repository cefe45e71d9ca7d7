"""Attention over a key-value cache that is a state, with the state updated in place.

What programs hold: rows of keys and values are written into two states at a position
(``slice_update``), all rows are read, often repeated for query heads that share them, and a mask
hides those after the position. OpenVINO copies such a state several times per call and looks at
all of it. Its paged attention writes the rows in place, shares keys between query heads, and reads
rows up to the position only. The states become parameters, whose memory sessions own.

It is applied where the two can be seen to agree at every position: the rows are written there, and
the mask hides exactly those after each query's. A position at which rows would reach past the end
is moved back, as ``slice_update`` does; negative ones are taken as 0.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.passes.attention_pattern import Attention, Cache, match
from pteron.engines.openvino.passes.causality import with_causal_mask
from pteron.engines.openvino.passes.graph_walk import replace
from pteron.engines.openvino.passes.paged_attention import attend, available, pages
from pteron.engines.openvino.passes.target import Page, Target


def state_attention(model: Any, target: Target) -> int:
    """Replace every attention of which it can be seen that paged attention agrees with it."""
    if target.exact or not available():
        return 0
    found = [attention for node in model.get_ordered_ops() if (attention := match(node))]
    # OpenVINO 2026.4's fp16 kernel is wrong for several queries at once.
    usable = [a for a in found if target.hint != "f16" or a.queries == 1]
    replaced = with_causal_mask(usable)
    for attention, position in replaced:
        _replace(model, attention, position, target)
    return len(replaced)


def _replace(model: Any, attention: Attention, position: Any, target: Target) -> None:
    keys, values = attention.keys, attention.values
    _, heads, rows, size = keys.shape
    kind = attention.node.get_input_element_type(0)
    caches = (pages(heads, rows, size), pages(heads, rows, size))
    last = opset.constant(np.int32(rows - attention.queries))
    start = opset.minimum(
        opset.maximum(_reshape(position.output(0), [1]), opset.constant(np.int32(0))), last
    )
    paged = attend(
        _queries_flat(attention),
        _rows_flat(keys, kind),
        _rows_flat(values, kind),
        caches,
        start,
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
    n, query = attention.queries, attention.node.input_value(0)
    if n == 1:
        return _reshape(query, [1, -1])
    if attention.grouped:
        apart = _transpose(_reshape(query, [heads, n, -1, size]), [1, 0, 2, 3])
    else:
        apart = _transpose(query, [0, 2, 1, 3])
    return _reshape(apart, [n, -1])


def _queries_back(attention: Attention, paged: Any) -> Any:
    """The shape of the attention that is replaced."""
    shape = list(attention.node.output(0).get_partial_shape().to_shape())
    _, heads, _, size = attention.keys.shape
    n = attention.queries
    if n == 1:
        return _reshape(paged, shape)
    if attention.grouped:
        return _reshape(_transpose(_reshape(paged, [n, heads, -1, size]), [1, 0, 2, 3]), shape)
    return _transpose(_reshape(paged, [1, n, -1, size]), [0, 2, 1, 3])


def _rows_flat(cache: Cache, kind: Any) -> Any:
    """``[1, heads, n, size]`` -> ``[n, heads * size]``, of an element type."""
    rows = opset.convert(cache.rows, kind).output(0)
    ordered = rows if cache.written == 1 else _transpose(rows, [0, 2, 1, 3])
    return _reshape(ordered, [cache.written, -1])


def _reshape(value: Any, shape: list[int]) -> Any:
    return opset.reshape(value, opset.constant(np.array(shape, np.int64)), False).output(0)


def _transpose(value: Any, order: list[int]) -> Any:
    return opset.transpose(value, opset.constant(np.array(order, np.int64))).output(0)
