"""Opens a cache directory: makes it when it is missing, and judges what is already there."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from pteron.cache import durable, locks
from pteron.cache.backups import exclude_from_backups, is_tagged
from pteron.cache.failures import io_errors
from pteron.cache.key import FORMAT_VERSION
from pteron.cache.layout import Layout
from pteron.cache.permissions import check_private
from pteron.cache.tree import remove_tree
from pteron.errors import CacheError, CacheErrorCode

_NOT_OURS_BUT_HARMLESS = frozenset({"lost+found", ".DS_Store"})


def prepare(layout: Layout, *, read_only: bool) -> bool:
    """Leave a cache directory of our format version, or raise CacheError.

    An existing cache is only read here, so one that cannot be written serves its hits. True if
    what an older format left is to be swept.

    Raises:
        CacheError: INITIALIZATION_FAILED for a directory that is no cache, holds a newer format,
            or can be written by others; IO_ERROR or DISK_FULL if it cannot be made.
    """
    if not hasattr(os, "geteuid"):
        raise _refusal(layout, "cannot be used: a cache directory needs POSIX file locks")
    with io_errors(f"open the cache in {layout.root}"):
        if not layout.root.is_dir():
            if read_only:
                raise _refusal(layout, "does not exist")
            layout.root.mkdir(mode=0o700, parents=True, exist_ok=True)
        check_private(layout.root)
        is_new = _version(layout) != FORMAT_VERSION
        if is_new:
            _initialize(layout, read_only=read_only)
        for directory in layout.directories:
            if not read_only and not os.path.lexists(directory):
                directory.mkdir(mode=0o700, exist_ok=True)
            check_private(directory)
        layout.locks_work = locks.locks_work(layout.version)
    return is_new


def _version(layout: Layout) -> int | None:
    """The format version found, 0 for one that cannot be read, None if this is no cache of ours.

    What is older will be purged, so our tag must confirm that it is a cache at all.
    """
    version = 0
    with suppress(FileNotFoundError, IsADirectoryError, ValueError):
        if not layout.version.is_symlink():
            version = int(durable.read_file(layout.version, limit=64))
    return version if version > FORMAT_VERSION or is_tagged(layout) else None


def _initialize(layout: Layout, *, read_only: bool) -> None:
    foreign = _foreign(layout)
    version = _version(layout)  # asked last: another process may be making the cache just now
    if version is None and foreign:
        raise _refusal(layout, f"is no cache but holds {foreign!r}; give an empty directory")
    if version is not None and version > FORMAT_VERSION:
        raise _refusal(layout, f"has format {version}, made by a newer pteron; it is left alone")
    if read_only:
        raise _refusal(layout, "is no cache of this format, and may not be changed")
    with locks.exclusive(layout.lock, keep=True):
        if _version(layout) != FORMAT_VERSION:  # another process may have been quicker
            _create(layout)


def _foreign(layout: Layout) -> str | None:
    """Something that a cache in the making, which has no tag yet, does not hold."""
    names = sorted(
        path.name for path in layout.root.iterdir() if not _is_of_the_making(layout, path)
    )
    return names[0] if names else None


def _is_of_the_making(layout: Layout, path: Path) -> bool:
    if path.name in _NOT_OURS_BUT_HARMLESS:
        return True
    if path.is_symlink():
        return False
    if path in layout.directories:
        return path.is_dir() and not any(path.iterdir())
    return path in (layout.lock, layout.new_tag) and path.is_file()


def _create(layout: Layout) -> None:
    """Make what is missing and forget all entries; their files are swept unless they are held."""
    for directory in layout.directories:
        if directory.is_symlink() or not directory.is_dir():
            remove_tree(directory)
        directory.mkdir(mode=0o700, exist_ok=True)
    for path in layout.entries.iterdir():
        remove_tree(path)
    for file in layout.files:
        remove_tree(file)
    exclude_from_backups(layout)
    if layout.version.is_dir():
        remove_tree(layout.version)
    content = f"{FORMAT_VERSION}\n".encode()
    durable.replace(layout.version, content, scratch=layout.new_version)


def _refusal(layout: Layout, why: str) -> CacheError:
    return CacheError(CacheErrorCode.INITIALIZATION_FAILED, f"{layout.root} {why}")


def is_writable(layout: Layout) -> bool:
    """Whether this process can store into the cache."""
    return all(os.access(path, os.W_OK | os.X_OK) for path in layout.directories)
