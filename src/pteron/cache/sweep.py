"""Removes what dead processes left in a cache directory, and, on request, everything."""

from __future__ import annotations

import os
import re
import socket
import time
from pathlib import Path

from pteron.cache import durable, locks
from pteron.cache import usage as usages
from pteron.cache.catalogue import entries, is_published, orphans
from pteron.cache.generations import Claim, claim, mark_orphan
from pteron.cache.layout import ORPHAN, Layout, identifier_of
from pteron.cache.temporary import announced_work
from pteron.cache.tree import remove_tree

_WORK = re.compile(r"([0-9a-f]{16})\.lock", re.ASCII)
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
        remove_tree(mark)
    else:
        mark_orphan(layout, generation)
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
    """Sweep what lies in ``temp/`` under a name that may be anyone's."""
    generation = path.name.removesuffix(ORPHAN)
    if generation != path.name and identifier_of(generation):
        _delete_orphan(layout, generation)
        return False
    work = _WORK.fullmatch(path.name)
    if work:
        return _sweep_work(layout, path, layout.temp / work[1])
    # The lock file is made before its directory and removed after it.
    if os.path.lexists(f"{path}.lock"):
        return False
    remove_tree(path)
    return True


def _sweep_work(layout: Layout, lock_file: Path, directory: Path) -> bool:
    try:
        lock = locks.try_exclusive(lock_file)
    except FileNotFoundError:
        return False
    except OSError as error:
        if error.errno not in locks.NOT_A_FILE:
            raise
        remove_tree(lock_file)  # no owner of ours made it
        return True
    if lock is None:
        return False
    try:
        if not layout.locks_work and _may_live(lock_file):
            return False
        remove_tree(directory)
        lock_file.unlink(missing_ok=True)
    finally:
        lock.close()
    return True


def _may_live(lock_file: Path) -> bool:
    """Without locks: whether the owner that the lock file names could still be at work."""
    host, _, pid = lock_file.read_text(errors="replace").partition(" ")
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
