"""Deletes generations of entries that nobody holds, and no others."""

from __future__ import annotations

import errno
import os
import time
from pathlib import Path

from pteron.cache import locks
from pteron.cache.layout import Layout, identifier_of
from pteron.cache.tree import check_directory, remove_tree

_UNHOLDABLE = locks.NOT_A_FILE | {errno.ENOENT, errno.ENOTDIR}
_GRACE_WITHOUT_LOCKS = 3600.0


class Claim:
    """A generation that nobody holds, nor can hold from now on."""

    def __init__(self, layout: Layout, generation: str, lock: locks.Lock | None) -> None:
        self._directory = layout.generation(generation)
        self._lock = lock

    def delete(self) -> None:
        """Delete its files and end the claim."""
        try:
            remove_tree(self._directory)
        finally:
            self.release()

    def release(self) -> None:
        """End the claim without deleting."""
        if self._lock:
            self._lock.close()


def claim(layout: Layout, generation: str) -> Claim | None:
    """Claim a generation for deletion; None if a live process holds it.

    Where the filesystem has no locks, one that was used in the last hour counts as held.
    """
    lock = None
    if identifier_of(generation):  # nobody holds what never was a generation
        try:
            lock = _lock(layout, generation)
        except OSError as error:
            if error.errno not in _UNHOLDABLE:  # what has no manifest is half deleted, or junk
                raise
        else:
            if lock is None:
                return None
    return Claim(layout, generation, lock)


def _lock(layout: Layout, generation: str) -> locks.Lock | None:
    """Lock the manifest; None if a live process holds it, or may hold it."""
    directory = layout.generation(generation)
    check_directory(directory)
    manifest = directory / "manifest.json"
    lock = locks.try_exclusive(manifest)
    if lock and not layout.locks_work and _used_just_now(manifest):
        lock.close()
        return None
    return lock


def _used_just_now(manifest: Path) -> bool:
    return abs(time.time() - manifest.lstat().st_mtime) < _GRACE_WITHOUT_LOCKS


def delete_unheld(layout: Layout, generation: str) -> None:
    """Delete a generation that is not published, or have a later sweep do it if it is held."""
    claimed = claim(layout, generation)
    if claimed:
        claimed.delete()
    else:
        mark_orphan(layout, generation)


def mark_orphan(layout: Layout, generation: str) -> None:
    """Have a later sweep delete a generation that is held now."""
    os.close(locks.open_file(layout.orphan_mark(generation), os.O_WRONLY | os.O_CREAT))
