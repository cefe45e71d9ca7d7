"""Announces work in ``temp/``, so that whoever comes after its owner's death can clean up."""

from __future__ import annotations

import os
import secrets
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pteron.cache import locks
from pteron.cache.layout import Layout
from pteron.cache.tree import remove_tree


@contextmanager
def announced_work(layout: Layout) -> Iterator[Path]:
    """Keep a lock file in ``temp/`` while the block changes the cache; gives an unused path there.

    If it is found unlocked its owner is dead, and may have left anything half done.
    """
    path = layout.temp / secrets.token_hex(8)
    lock_file = path.with_suffix(".lock")
    with locks.exclusive(lock_file):
        if not layout.locks_work:
            lock_file.write_text(f"{socket.gethostname()} {os.getpid()}")
        yield path


@contextmanager
def owned_directory(layout: Layout) -> Iterator[Path]:
    """A new directory beneath ``temp/``, gone at the end of the block."""
    with announced_work(layout) as path:
        try:
            path.mkdir(mode=0o700)
            yield path
        finally:
            remove_tree(path)
