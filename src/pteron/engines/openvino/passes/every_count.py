"""Which attentions that paged attention agrees with at one count it agrees with at every count.

Shown is, for every count n and every position p from which n rows fit:

- there are n rows of keys, n of values, and the queries of n tokens: by OpenVINO's shape
  inference, with a symbol for n (n = 1 aside, where it may mislead; but that can only be the lowest
  count, for which shapes were looked at);
- rows are written at places ``f(p + i)``, and what query i sees is ``g(p + i)``, for all i < n,
  with one f and one g for every n and p: read off the graph, see :mod:`.token_rows`, the integers
  in it computed for every n and p. What f and g are was evaluated at the lowest count, where
  ``p + i`` takes all its values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pteron.engines.openvino.passes.attention_pattern import Attention, Cache
from pteron.engines.openvino.passes.calls import Calls
from pteron.engines.openvino.passes.flexible_count import COUNT, Count
from pteron.engines.openvino.passes.positions import form
from pteron.engines.openvino.passes.token_rows import Blocks, TokenRows

Placed = tuple[Attention, Any]
"""An attention, and the input that gives its position."""


def at_every_count(found: Sequence[Placed], count: Count) -> list[Placed]:
    """Attentions for which that is so, of those for which it is at the lowest count."""
    seen = _Seen(count)
    return [
        (attention, position) for attention, position in found if seen.holds(attention, position)
    ]


class _Seen:
    """What has been looked at, as layers are alike."""

    def __init__(self, count: Count) -> None:
        self._count = count
        self._rows: dict[tuple[str, int], TokenRows] = {}
        self._blocks: dict[tuple[str, str, int], Blocks | None] = {}

    def holds(self, attention: Attention, position: Any) -> bool:
        caches = attention.keys, attention.values
        if not self._has_all_queries(attention) or not all(map(self._has_all_rows, caches)):
            return False
        rows = attention.keys.shape[2]
        places = [self._of(cache.places, position, rows) for cache in caches]
        mask = self._of(attention.mask, position, rows)
        if not all(place is not None and place.shape == (1,) for place in places) or mask is None:
            return False
        return mask.axis == len(mask.shape) - 2 and mask.shape[-2:] == (attention.mask_rows, rows)

    def _of(self, output: Any, position: Any, rows: int) -> Blocks | None:
        place = position.get_name(), rows
        claim = form(output), *place
        if claim not in self._blocks:
            known = self._rows.setdefault(place, TokenRows(Calls(self._count, rows, position)))
            self._blocks[claim] = known.blocks(output)
        return self._blocks[claim]

    def _has_all_rows(self, cache: Cache) -> bool:
        _, heads, _, size = cache.shape
        return self._count.shape_of(cache.rows) == (1, heads, COUNT, size)

    def _has_all_queries(self, attention: Attention) -> bool:
        """As many numbers as the queries of all tokens are, in the axes that they should be in."""
        _, heads, _, size = attention.keys.shape
        query = attention.node.input_value(0)
        sizes = [n.get_length() if n.is_static else COUNT for n in query.get_partial_shape()]
        wanted = (1, heads if attention.grouped else heads * attention.group, COUNT, size)
        if tuple(sizes) != wanted:
            return False
        return self._count.elements(query) == heads * attention.group * size
