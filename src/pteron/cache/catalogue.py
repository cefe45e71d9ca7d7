"""Lists what a cache directory holds."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass

from pteron.cache.identifier import is_valid
from pteron.cache.layout import Layout, identifier_of
from pteron.cache.manifest import Manifest
from pteron.cache.reader import (
    BrokenEntryError,
    is_damage,
    last_used,
    read_manifest,
    read_pointer,
)


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
    """Every published entry, in no order; files under names that are no identifiers are not."""
    for path in list(layout.entries.iterdir()):
        listed = _listed(layout, path.name) if is_valid(path.name) else None
        if listed:
            yield listed


def _listed(layout: Layout, identifier: str) -> Listed | None:
    try:
        generation = read_pointer(layout, identifier)
    except BrokenEntryError:
        return Listed(identifier, "", 0, None)
    if generation is None:
        return None
    used = last_used(layout, generation) or 0
    try:
        return Listed(identifier, generation, used, read_manifest(layout, generation))
    except (OSError, ValueError) as error:
        if not is_damage(error):
            raise
    # Broken, unless it was replaced or removed meanwhile.
    if read_pointer(layout, identifier) == generation:
        return Listed(identifier, generation, used, None)
    return _listed(layout, identifier)


def is_published(layout: Layout, generation: str) -> bool:
    """Whether an entry names this generation."""
    identifier = identifier_of(generation)
    with suppress(BrokenEntryError):
        return identifier is not None and read_pointer(layout, identifier) == generation
    return False


def orphans(layout: Layout, published: set[str]) -> list[str]:
    """Generations that no entry names: replaced or removed while held, or a crash left them."""
    return [path.name for path in layout.models.iterdir() if path.name not in published]
