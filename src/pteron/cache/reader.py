"""Finds an entry on disk and checks, cheaply, that it is whole."""

from __future__ import annotations

import errno
import os
from contextlib import suppress

from pteron.cache import durable, locks
from pteron.cache.failures import READ_ONLY
from pteron.cache.layout import Layout, identifier_of
from pteron.cache.manifest import MANIFEST_LIMIT, Manifest
from pteron.cache.tree import check_directory, file_sizes
from pteron.errors import CacheError, CacheErrorCode

_POINTER_LIMIT = 256
_ATTEMPTS = 16
_DAMAGE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.EISDIR, errno.ELOOP, errno.ENXIO})


class Found:
    """A whole entry, held by a lock on its manifest until :meth:`close`."""

    def __init__(self, generation: str, manifest: Manifest, hold: locks.Lock) -> None:
        self.generation = generation
        self.manifest = manifest
        self.close = hold.close


class _BeingDeletedError(Exception):
    """Another process is deleting the generation."""


def lookup(layout: Layout, identifier: str, *, use: bool = True) -> Found | None:
    """The entry, if there is one and its files' names and sizes are those of its manifest.

    ``use``: note that it was used, for eviction.

    Raises:
        BrokenEntryError: there is one that is not whole; its message says why.
        OSError: the cache cannot be read.
    """
    for _ in range(_ATTEMPTS):
        generation = read_pointer(layout, identifier)
        if generation is None:
            return None
        try:
            return _open(layout, identifier, generation, use)
        except _BeingDeletedError:
            if read_pointer(layout, identifier) == generation:
                return None  # evicted: its pointer goes next
        except (OSError, ValueError) as error:
            if not is_damage(error):
                raise
            # A writer may have replaced the entry meanwhile: it is broken only if it is still it.
            if read_pointer(layout, identifier) == generation:
                raise BrokenEntryError(identifier, str(error), generation) from error
    return None  # replaced faster than it can be read: as good as absent


def is_damage(error: OSError | ValueError) -> bool:
    """Whether reading failed because of what is in the cache, not because of the machine."""
    return isinstance(error, ValueError) or error.errno in _DAMAGE


def read_manifest(layout: Layout, generation: str) -> Manifest:
    """Manifest of a generation. Raises OSError or ValueError if there is none to be read."""
    directory = layout.generation(generation)
    check_directory(directory)
    path = directory / "manifest.json"
    return Manifest.from_json(durable.read_file(path, MANIFEST_LIMIT))


def read_pointer(layout: Layout, identifier: str) -> str | None:
    """Name of the entry's generation, None if there is no entry.

    Raises BrokenEntryError if the pointer is not one.
    """
    try:
        text = durable.read_file(f"{layout.entries}/{identifier}", _POINTER_LIMIT)
        generation = text.decode("ascii")
    except FileNotFoundError:
        return None
    except (OSError, ValueError) as error:
        if not is_damage(error):
            raise
        raise BrokenEntryError(identifier, str(error)) from error
    if identifier_of(generation) != identifier:
        raise BrokenEntryError(identifier, "its pointer names no generation of its own")
    return generation


def _open(layout: Layout, identifier: str, generation: str, use: bool) -> Found:
    directory = f"{layout.models}/{generation}"
    check_directory(directory)  # nothing outside is read, or marked as used
    fd = os.open(f"{directory}/manifest.json", durable.READ)
    hold = locks.Lock(fd)
    try:
        if not hold.share():
            raise _BeingDeletedError
        manifest = Manifest.from_json(durable.read_open(fd, MANIFEST_LIMIT))
        _check(manifest, identifier, f"{directory}/model")
        if use:
            _touch(fd)
    except BaseException:
        hold.close()
        raise
    return Found(generation, manifest, hold)


def _check(manifest: Manifest, identifier: str, model: str) -> None:
    if manifest.identifier != identifier:
        raise ValueError(f"its manifest is that of {manifest.identifier!r:.200}")
    if file_sizes(model) != {path: file.size for path, file in manifest.files.items()}:
        raise ValueError("the names or sizes of its files are not those of its manifest")


def _touch(fd: int) -> None:
    """Note the use, for eviction: the manifest's modification time."""
    try:
        os.utime(fd)
    except OSError as error:
        if error.errno not in READ_ONLY:
            raise


def last_used(layout: Layout, generation: str) -> int | None:
    """When the generation was used last, in nanoseconds since the epoch; None if it is gone."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return (layout.generation(generation) / "manifest.json").lstat().st_mtime_ns
    return None


class BrokenEntryError(CacheError):
    """An entry is not whole. ``generation`` is None if its pointer is what is broken."""

    def __init__(self, identifier: str, why: str, generation: str | None = None) -> None:
        self.generation = generation
        super().__init__(CacheErrorCode.CORRUPTED_ENTRY, f"entry {identifier}: {why}")
