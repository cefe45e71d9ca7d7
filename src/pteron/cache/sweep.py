"""Removes what dead processes left in a cache directory, and, on request, everything."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

from pteron.cache import durable, locks
from pteron.cache import usage as usages
from pteron.cache.catalogue import entries, is_published, orphans
from pteron.cache.generations import Claim, claim
from pteron.cache.layout import ORPHAN, Layout
from pteron.cache.temporary import announced_work
from pteron.cache.tree import remove_tree

_SURELY_DEAD_WITHOUT_LOCKS = 7 * 86400.0


def sweep(layout: Layout, *, thoroughly: bool = False) -> int:
    """Remove what dead processes left; returns how many things.

    Work that was cut short shows in ``temp/`` or ``compiling/``. Only then, or if asked to be
    thorough, are the entries searched for generations that nothing names any more.
    """
    waiting = [*layout.compiling.iterdir()]
    working = [*layout.temp.iterdir()]
    if not waiting and not working and not thoroughly:
        return 0
    with announced_work(layout):  # first of all: a death from here on must show as well
        removed = sum(locks.remove_if_free(path) for path in waiting)
        removed += sum(_sweep_one(layout, path) for path in working)
        if removed or thoroughly:
            removed += _sweep_orphans(layout)
    return removed


def _delete_orphan(layout: Layout, generation: str) -> bool:
    """Delete a generation if it is neither published nor held; mark it if it is held."""
    mark = layout.orphan_mark(generation)
    with locks.exclusive(layout.lock, keep=True):
        published = is_published(layout, generation)
        claimed = None if published else claim(layout, generation)
    if claimed:
        claimed.delete()
    if claimed or published:
        mark.unlink(missing_ok=True)
    else:
        mark.touch(mode=0o600)
    return claimed is not None


def _sweep_orphans(layout: Layout) -> int:
    with locks.exclusive(layout.lock, keep=True):
        found = orphans(layout, {listed.generation for listed in entries(layout)})
        usages.write(layout, None)
    return sum(_delete_orphan(layout, generation) for generation in found)


def purge(layout: Layout) -> None:
    """Remove every entry; the files of one that is held go with a sweep thereafter."""
    with announced_work(layout):
        with locks.exclusive(layout.lock, keep=True):
            for path in list(layout.entries.iterdir()):
                remove_tree(path)
            usages.write(layout, None)
            found = orphans(layout, published=set())
        durable.sync(layout.entries)
        for generation in found:
            _delete_orphan(layout, generation)
    sweep(layout)


def claim_orphans(layout: Layout, published: set[str]) -> list[Claim]:
    """Claim the generations that no entry names, under the cache's lock.

    Whoever is about to publish one holds it already, and publishes it under the same lock.
    """
    return [c for name in orphans(layout, published) if (c := claim(layout, name))]


def _sweep_one(layout: Layout, path: Path) -> bool:
    if path.name.endswith(ORPHAN):
        _delete_orphan(layout, path.name.removesuffix(ORPHAN))
        return False
    if path.suffix != ".lock":
        # The lock file is made before its directory and removed after it.
        if path.with_suffix(".lock").exists():
            return False
        remove_tree(path)
        return True
    try:
        lock = locks.try_exclusive(path)
    except FileNotFoundError:
        return False
    if lock is None:
        return False
    try:
        if not layout.locks_work and _may_live(path):
            return False
        remove_tree(path.with_suffix(""))
        path.unlink(missing_ok=True)
    finally:
        lock.close()
    return True


def _may_live(lock_file: Path) -> bool:
    """Without locks: whether the owner that the lock file names could still be at work."""
    host, _, pid = lock_file.read_text().partition(" ")
    if host == socket.gethostname() and pid.isdigit():
        return _is_alive(int(pid))
    return abs(time.time() - lock_file.stat().st_mtime) < _SURELY_DEAD_WITHOUT_LOCKS


def _is_alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
