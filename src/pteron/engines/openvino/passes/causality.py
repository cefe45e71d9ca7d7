"""Which attentions see, at every position, the rows up to their own and none after."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.engines.openvino.passes.attention_pattern import Attention
from pteron.engines.openvino.passes.positions import at_every_position, form, position_of

HIDDEN = -1e4
"""A mask that is added hides what it lowers by this much: in fp32 nothing is left of it."""
MOST_ELEMENTS = 1 << 29
"""Of masks, at all positions, that are looked at, at most: a second or two."""


@dataclass(frozen=True)
class _Claim:
    """What an output must be at position p, for attention of ``queries`` (n) to ``rows`` rows.

    ``places``: p to p + n - 1. ``mask``: each row of query i sees the rows up to p + i.
    """

    kind: str
    form: str
    queries: int
    group: int
    rows: int
    output: Any = field(compare=False)

    def holds(self, value: NDArray[Any], position: int) -> bool:
        places = np.arange(position, position + self.queries)
        if self.kind == "places":
            return np.array_equal(value.reshape(-1), places)
        return self._is_causal(value, places)

    def _is_causal(self, mask: NDArray[Any], places: NDArray[Any]) -> bool:
        wanted = np.arange(self.rows) <= np.repeat(places, self.group)[:, None]
        if mask.shape[-1] != self.rows or mask.size != mask.shape[-1] * mask.shape[-2]:
            return False
        seen = mask if mask.dtype == np.bool_ else mask == 0
        hidden = ~seen if mask.dtype == np.bool_ else mask <= HIDDEN
        if len(places) > 1 and mask.shape[-2] != len(wanted):
            return False
        return bool(np.all(seen == wanted) and np.all(hidden == ~wanted))


def with_causal_mask(found: Sequence[Attention]) -> list[tuple[Attention, Any]]:
    """Attentions for which that is so, each with the input that gives its position."""
    kept = []
    known: dict[_Claim, bool] = {}
    for attention in found:
        claims = list(_claims(attention))
        position = position_of([claim.output for claim in claims])
        if position is None or _elements(attention) > MOST_ELEMENTS:
            continue
        new = [claim for claim in dict.fromkeys(claims) if claim not in known]
        if new:
            known |= _checked(new, position, attention)
        if all(known[claim] for claim in claims):
            kept.append((attention, position))
    return kept


def _elements(attention: Attention) -> int:
    rows = attention.keys.shape[2]
    return rows * rows * attention.queries


def _claims(attention: Attention) -> Iterator[_Claim]:
    sizes = attention.queries, attention.mask_rows, attention.keys.shape[2]
    for cache in (attention.keys, attention.values):
        yield _Claim("places", form(cache.places), *sizes, cache.places)
    yield _Claim("mask", form(attention.mask), *sizes, attention.mask)


def _checked(claims: Sequence[_Claim], position: Any, attention: Attention) -> dict[_Claim, bool]:
    held = dict.fromkeys(claims, True)
    count = attention.keys.shape[2] - attention.queries + 1
    values = at_every_position([claim.output for claim in claims], position, count)
    for at, found in enumerate(values):
        for claim, value in zip(claims, found, strict=True):
            held[claim] = held[claim] and claim.holds(value, at)
        if not any(held.values()):
            break
    return held
