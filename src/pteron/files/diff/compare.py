"""Comparing facts: nested mappings whose leaves are plain data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from pteron.files.diff.change import Change

Facts = Mapping[str, Any]


def compare(before: Facts, after: Facts, where: tuple[str, ...] = ()) -> Iterator[Change]:
    """Every difference, in the first mapping's order, then what only the second one has."""
    for key, value in before.items():
        place = (*where, key)
        if key not in after:
            yield Change(place, "removed", value)
        elif isinstance(value, Mapping) and isinstance(after[key], Mapping):
            yield from compare(value, after[key], place)
        elif value != after[key]:
            yield Change(place, "changed", value, after[key])
    for key, value in after.items():
        if key not in before:
            yield Change((*where, key), "added", after=value)
