"""Deletes generations of entries that nobody holds, and no others."""

from __future__ import annotations

import time

from pteron.cache import locks
from pteron.cache.layout import Layout
from pteron.cache.tree import remove_tree

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
    manifest = layout.generation(generation) / "manifest.json"
    try:
        lock = locks.try_exclusive(manifest)
        if lock is None:
            return None
        if not layout.locks_work and abs(time.time() - manifest.stat().st_mtime) < (
            _GRACE_WITHOUT_LOCKS
        ):
            lock.close()
            return None
    except (FileNotFoundError, NotADirectoryError):
        lock = None  # half deleted: nobody holds what has no manifest
    return Claim(layout, generation, lock)


def delete_unheld(layout: Layout, generation: str) -> None:
    """Delete a generation that is not published, or have a later sweep do it if it is held."""
    claimed = claim(layout, generation)
    if claimed:
        claimed.delete()
    else:
        layout.orphan_mark(generation).touch(mode=0o600)
