"""Temporary directories that outlive their owner's death by one sweep at most."""

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
def owned_directory(layout: Layout) -> Iterator[Path]:
    """A new directory beneath ``temp/``; its lock file is locked while the block runs."""
    path = layout.temp / secrets.token_hex(8)
    lock_file = path.with_suffix(".lock")
    with locks.exclusive(lock_file):
        try:
            if not layout.locks_work:
                lock_file.write_text(f"{socket.gethostname()} {os.getpid()}")
            path.mkdir(mode=0o700)
            yield path
        finally:
            remove_tree(path)
