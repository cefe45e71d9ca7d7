"""Writes that are on the disk, whole, before anyone can find them."""

from __future__ import annotations

import os
from pathlib import Path

READ = os.O_RDONLY | os.O_CLOEXEC | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
"""Open to read without following a symbolic link, or waiting for a pipe's other end."""

_CHUNK = 1 << 14


def read_file(path: str | os.PathLike[str], limit: int) -> bytes:
    """A small file's content. Symbolic links are not followed, nor more than ``limit`` bytes read.

    Raises:
        ValueError: the file is larger than that.
    """
    fd = os.open(path, READ)
    try:
        return read_open(fd, limit)
    finally:
        os.close(fd)


def read_open(fd: int, limit: int) -> bytes:
    """The content of an open small file, as :func:`read_file`."""
    data = os.read(fd, _CHUNK)
    if len(data) == _CHUNK:  # one call is enough for most
        while len(data) <= limit and (more := os.read(fd, _CHUNK)):
            data += more
    if len(data) > limit:
        raise ValueError(f"larger than {limit} bytes")
    return data


def sync(path: Path) -> None:
    """Flush a file or a directory to the disk."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        os.fsync(fd)
    finally:
        os.close(fd)


def write_new(path: Path, data: bytes) -> None:
    """Create a file with this content, flushed to the disk."""
    fd = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
    with os.fdopen(fd, "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())


def replace(path: Path, data: bytes, scratch: Path) -> None:
    """Put a file in another's place in one step: readers see the old or the new content.

    ``scratch`` is an unused path on the same filesystem.
    """
    try:
        write_new(scratch, data)
        scratch.replace(path)
    except BaseException:
        scratch.unlink(missing_ok=True)
        raise
    sync(path.parent)
