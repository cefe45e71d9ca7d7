"""Attention over two states, as it looks in a translated graph."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np

from pteron.engines.openvino._import import ov
from pteron.engines.openvino.passes.graph_walk import readers, scalar, state_read, static_shape
from pteron.engines.openvino.passes.known_shapes import asks_for_shape
from pteron.engines.openvino.passes.movement import moved

_ROWS = 2
"""Axis of a cache's rows."""


@dataclass(frozen=True)
class Cache:
    """A state, ``[1, heads, rows, size]``, that a call writes some rows of and reads whole.

    Attributes:
        state: its name.
        updated: output of the graph with the rows written.
        assign: node that keeps it.
        rows: what is written, ``[1, heads, n, size]``.
        places: output with the n row numbers it is written to.
        shape: of the state.
        written: rows that a call writes (n).
        rounded: whether a call itself reads the rows that it writes in the state's own type, not
            in another that later calls do not see.
    """

    state: str
    updated: Any
    assign: Any
    rows: Any
    places: Any
    shape: tuple[int, ...]
    written: int
    rounded: bool


@dataclass(frozen=True)
class Attention:
    """Scaled dot product attention of n queries per head to two caches.

    Of a model whose n is flexible this tells what is so at the n that it was found at.

    Attributes:
        node: the operation.
        keys, values: the caches.
        mask: output that says what each row of queries sees.
        group: query heads that share a key head.
        grouped: they are rows of it, those of one position side by side; else the caches' heads
            are repeated where query heads are more.
    """

    node: Any
    keys: Cache
    values: Cache
    mask: Any
    group: int
    grouped: bool

    @property
    def queries(self) -> int:
        """Positions that a call is for (n)."""
        return self.keys.written

    @property
    def mask_rows(self) -> int:
        """Rows of the mask that belong to one position."""
        return self.group if self.grouped else 1

    @property
    def scale(self) -> float:
        """Factor of the products of queries and keys."""
        given = scalar(self.node.input_value(4)) if self.node.get_input_size() > 4 else None
        return 1 / sqrt(self.keys.shape[3]) if given is None else given


def match(node: Any) -> Attention | None:
    """The attention that a node is the operation of, if it is over two states of one shape."""
    if node.get_type_name() != "ScaledDotProductAttention" or node.get_input_size() < 4:
        return None
    query = static_shape(node.input_value(0))
    keys, values = (_cache(node.input_value(index)) for index in (1, 2))
    if node.get_attributes()["causal"] or query is None or len(query) != 4 or query[0] != 1:
        return None
    if keys is None or values is None or keys.shape != values.shape or keys.state == values.state:
        return None
    grouped = query[1] == keys.shape[1] and query[2] > keys.written
    group = query[2] // keys.written if grouped else query[1] // keys.shape[1]
    attention = Attention(node, keys, values, node.input_value(3), group, grouped)
    return attention if _fits(attention, query) else None


def _fits(attention: Attention, query: tuple[int, ...]) -> bool:
    """Whether heads and rows of the queries are those of the caches, repeated alike."""
    _, heads, _, size = attention.keys.shape
    n, group = attention.queries, attention.group
    if n > attention.keys.shape[_ROWS]:
        return False
    wanted = (1, heads, n * group, size) if attention.grouped else (1, heads * group, n, size)
    if query != wanted or static_shape(attention.values.rows) != (1, heads, n, size):
        return False
    repeated = 1 if attention.grouped else group
    return all(
        _repeats_heads(attention.node.input_value(index), cache, repeated)
        for index, cache in ((1, attention.keys), (2, attention.values))
    )


def _repeats_heads(output: Any, cache: Cache, times: int) -> bool:
    indices = moved(output, cache.updated)
    whole = np.arange(np.prod(cache.shape), dtype=np.int32).reshape(cache.shape)
    return indices is not None and np.array_equal(indices, np.repeat(whole, times, axis=1))


def _cache(output: Any) -> Cache | None:
    """The cache that is read here and nowhere else, through operations that only move it."""
    while output.get_node().get_type_name() != "ScatterUpdate":
        node = output.get_node()
        if not node.get_input_size() or len(_value_readers(output)) != 1:
            return None
        output = node.input_value(0)
    return _written(output.get_node())


def _written(write: Any) -> Cache | None:
    """The cache that a node writes rows of, if nothing but it sees the state before and after."""
    updated, read = write.output(0), state_read(write.input_value(0))
    assigns = [assign for reader in readers(updated) if (assign := _assign(reader))]
    shape = static_shape(updated)
    if read is None or len(assigns) != 1 or len(_value_readers(updated)) != 2:
        return None
    if read.get_element_type() != ov.Type.f16:
        return None
    if shape is None or len(shape) != 4 or shape[0] != 1 or scalar(write.input_value(3)) != _ROWS:
        return None
    if any(len(_value_readers(v)) != 1 for v in (read.output(0), write.input_value(0))):
        return None
    rows = write.input_value(2)
    known = static_shape(rows)
    if known is None or len(known) != 4 or (*known[:2], known[3]) != (*shape[:2], shape[3]):
        return None
    state = read.get_attributes()["variable_id"]
    rounded = updated.get_element_type() == read.get_element_type()
    places = write.input_value(1)
    return Cache(state, updated, assigns[0], rows, places, shape, known[_ROWS], rounded)


def _assign(reader: Any) -> Any:
    """The node that keeps what a reader of it converts at most; else None."""
    converted = readers(reader.output(0)) if reader.get_type_name() == "Convert" else [reader]
    is_kept = len(converted) == 1 and converted[0].get_type_name() == "Assign"
    return converted[0] if is_kept else None


def _value_readers(output: Any) -> list[Any]:
    """Readers of an output out of which more than its shape comes."""
    return [node for node in readers(output) if not asks_for_shape(node)]
