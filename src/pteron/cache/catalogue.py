"""Lists what a cache directory holds."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from pteron.cache.layout import Layout, identifier_of
from pteron.cache.manifest import Manifest
from pteron.cache.reader import read_pointer
from pteron.errors import CacheError


@dataclass(frozen=True)
class Listed:
    """One published entry.

    Attributes:
        identifier: the entry's identifier.
        generation: name of its directory in ``models/``; "" if the pointer is broken.
        last_used: nanoseconds since the epoch.
        manifest: its manifest, or None if it cannot be read: the entry is broken.
    """

    identifier: str
    generation: str
    last_used: int
    manifest: Manifest | None


def entries(layout: Layout) -> Iterator[Listed]:
    """Every published entry, in no order."""
    for path in list(layout.entries.iterdir()):
        listed = _listed(layout, path.name)
        if listed:
            yield listed


def _listed(layout: Layout, identifier: str) -> Listed | None:
    try:
        generation = read_pointer(layout, identifier)
    except CacheError:
        return Listed(identifier, "", 0, None)
    if generation is None:
        return None
    path = layout.generation(generation) / "manifest.json"
    try:
        used = path.stat().st_mtime_ns
        return Listed(identifier, generation, used, Manifest.from_json(path.read_bytes()))
    except (OSError, ValueError):
        return Listed(identifier, generation, 0, None)


def orphans(layout: Layout, published: set[str]) -> list[str]:
    """Generations that no entry names: replaced or removed while held, or a crash left them."""
    return [
        path.name
        for path in layout.models.iterdir()
        if path.name not in published and identifier_of(path.name)
    ]
