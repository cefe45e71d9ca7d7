"""Puts a compiled model into a cache directory, in one step that cannot be seen half done."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

from pteron.cache import durable, locks
from pteron.cache import usage as usages
from pteron.cache.evict import Limits, make_room
from pteron.cache.generations import delete_unheld
from pteron.cache.layout import Layout, new_generation
from pteron.cache.manifest import Manifest, describe
from pteron.cache.reader import Found, read_manifest, read_pointer
from pteron.cache.temporary import announced_work
from pteron.cache.tree import copy_files, remove_tree
from pteron.errors import CacheError

_FLUSHES = 8


class Staged(NamedTuple):
    """A directory beneath ``temp/`` that can become a generation as it is."""

    directory: Path
    generation: str
    manifest: Manifest


def take_in(layout: Layout, source: Path, target: Path) -> None:
    """Bring the source's files to ``target``; those beneath ``temp/`` are moved, not copied."""
    if source.resolve().is_relative_to(layout.temp.resolve()):
        source.rename(target)
    else:
        copy_files(source, target)


def stage(
    directory: Path, identifier: str, key: Mapping[str, object], compile_seconds: float
) -> Staged:
    """Add manifest and pointer to ``directory/model``, and flush everything to the disk."""
    model = directory / "model"
    generation = new_generation(identifier)
    with ThreadPoolExecutor(_FLUSHES) as pool:  # the disk works while the processor digests
        flushed = [pool.submit(durable.sync, path) for path in (model, *model.rglob("*"))]
        manifest = Manifest(identifier, describe(model), key, time.time(), compile_seconds)
        (directory / "manifest.json").write_bytes(manifest.to_json())
        (directory / "pointer").write_text(generation)
        added = (directory / "manifest.json", directory / "pointer", directory)
        flushed += [pool.submit(durable.sync, path) for path in added]
        for each in flushed:
            each.result()
    return Staged(directory, generation, manifest)


def publish(layout: Layout, staged: Staged, limits: Limits) -> tuple[Found, int]:
    """Make a staged directory the entry, held; tells how many others were evicted for it.

    A crash before the pointer is renamed leaves the old entry, one after it the new.
    """
    identifier, generation = staged.manifest.identifier, staged.generation
    hold = locks.Lock(os.open(staged.directory / "manifest.json", durable.READ))
    try:
        # Held from before it can be seen: a sweep must not take it for an orphan.
        hold.share()
        staged.directory.rename(layout.generation(generation))
        durable.sync(layout.models)
        evicted = _swap(layout, staged, limits)
    except BaseException:
        hold.close()
        if _current(layout, identifier) != generation:
            delete_unheld(layout, generation)
        raise
    return Found(generation, staged.manifest, hold), evicted


def _swap(layout: Layout, staged: Staged, limits: Limits) -> int:
    identifier, size = staged.manifest.identifier, staged.manifest.size
    with locks.exclusive(layout.lock, keep=True):
        old = _current(layout, identifier)
        old_size = (old and _size_of(layout, old)) or 0
        evicted = make_room(layout, limits, room=size - old_size, keep=identifier)
        usages.add(layout, size)
        _put(layout.generation(staged.generation) / "pointer", layout.entries / identifier)
        usages.add(layout, -old_size)
    durable.sync(layout.entries)
    for claimed in evicted:
        claimed.delete()
    if old:
        delete_unheld(layout, old)
    return len(evicted)


def _put(pointer: Path, target: Path) -> None:
    if target.is_dir():  # nothing of ours
        remove_tree(target)
    pointer.replace(target)


def unpublish(
    layout: Layout, identifier: str, only_if: Callable[[str | None], bool] = lambda _: True
) -> bool:
    """Remove an entry, and its files unless someone holds them; False if there is none.

    ``only_if`` is asked with the entry's generation (None if its pointer is broken), and may
    refuse.
    """
    with announced_work(layout):
        with locks.exclusive(layout.lock, keep=True):
            path = layout.entries / identifier
            old = _current(layout, identifier)
            if not os.path.lexists(path) or not only_if(old):
                return False
            size = _size_of(layout, old) if old else None
            remove_tree(path)
            usages.add(layout, None if size is None else -size)
        durable.sync(layout.entries)
        if old:
            delete_unheld(layout, old)
    return True


def _current(layout: Layout, identifier: str) -> str | None:
    """The generation published now, None if there is none or the pointer is broken."""
    with suppress(CacheError):
        return read_pointer(layout, identifier)
    return None


def _size_of(layout: Layout, generation: str) -> int | None:
    with suppress(OSError, ValueError):
        return read_manifest(layout, generation).size
    return None
