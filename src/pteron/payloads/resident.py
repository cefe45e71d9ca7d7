"""Memory that reading a payload takes, given back while the payload stays open."""

from __future__ import annotations

import mmap

from pteron.payloads.base import PayloadSource


def give_back(source: PayloadSource) -> None:
    """Take what was read of a payload's mapped files out of this process's resident memory.

    Reading on brings it back, from the system's cache as a rule. Only maps that nobody can have
    written to are touched; other buffers, and systems without such a call, are left alone.
    """
    maps = [_map_of(source.read(path)) for path in source.paths()]
    for mapped in {id(item): item for item in maps if item is not None}.values():
        mapped.madvise(mmap.MADV_DONTNEED)


def _map_of(view: memoryview) -> mmap.mmap | None:
    mapped = view.obj
    if not isinstance(mapped, mmap.mmap) or not hasattr(mmap, "MADV_DONTNEED"):
        return None
    return mapped if memoryview(mapped).readonly else None
