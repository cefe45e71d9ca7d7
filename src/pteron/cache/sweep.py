"""Removes what dead processes left in a cache directory, and, on request, everything."""

from __future__ import annotations

import os
import socket
import time
from pathlib import Path

from pteron.cache import durable, locks
from pteron.cache import usage as usages
from pteron.cache.catalogue import orphans
from pteron.cache.generations import delete_unheld
from pteron.cache.layout import Layout
from pteron.cache.tree import remove_tree

_SURELY_DEAD_WITHOUT_LOCKS = 7 * 86400.0


def sweep_temporary(layout: Layout) -> int:
    """Remove what dead owners left in ``temp/`` and ``compiling/``; returns how many things.

    If there was any, an owner died at work and may have left more: the next store looks.
    """
    removed = sum(locks.remove_if_free(path) for path in list(layout.compiling.iterdir()))
    removed += sum(_sweep_one(layout, path) for path in list(layout.temp.iterdir()))
    if removed:
        with locks.exclusive(layout.lock, keep=True):
            usages.write(layout, None)
    return removed


def purge(layout: Layout) -> None:
    """Remove every entry; the files of one that is held go with the first sweep thereafter."""
    with locks.exclusive(layout.lock, keep=True):
        for path in list(layout.entries.iterdir()):
            remove_tree(path)
        usages.write(layout, None)
    durable.sync(layout.entries)
    for generation in orphans(layout, published=set()):
        delete_unheld(layout, generation)
    sweep_temporary(layout)


def _sweep_one(layout: Layout, path: Path) -> bool:
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
