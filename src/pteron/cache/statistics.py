"""Counts what a cache did, over all processes that ever used it.

They are kept as one little-endian record: every hit adds to it, and should cost next to nothing.
"""

from __future__ import annotations

import operator
import os
import struct
from collections.abc import Iterable
from typing import Any, NamedTuple

from pteron.cache import durable, locks
from pteron.cache.layout import Layout

_FORMAT = struct.Struct("<6Qd")


class Statistics(NamedTuple):
    """What a cache did since its directory was made.

    Attributes:
        hits: look-ups that found an entry.
        misses: look-ups that found none.
        stores: entries stored.
        evictions: entries evicted for their age or for want of room.
        recoveries: broken entries that were removed.
        bytes_stored: bytes of all entries stored.
        compile_seconds_saved: sum over the hits of the time their compiles took.
    """

    hits: int = 0
    misses: int = 0
    stores: int = 0
    evictions: int = 0
    recoveries: int = 0
    bytes_stored: int = 0
    compile_seconds_saved: float = 0.0


def read(layout: Layout) -> Statistics:
    """The counts so far; zeros if there are none, or none that can be read."""
    try:
        return Statistics(*_unpack(durable.read_file(layout.statistics, _FORMAT.size)))
    except (FileNotFoundError, ValueError):
        return Statistics()
    except OSError as error:
        if error.errno not in locks.NOT_A_FILE:
            raise
        return Statistics()


def add(layout: Layout, change: Statistics) -> None:
    """Add to the counts, in place and by one write, so that a kill cannot tear them."""
    fd = locks.open_file(layout.statistics, os.O_RDWR | os.O_CREAT)
    try:
        locks.flock(fd, wait=True)
        stored = os.pread(fd, _FORMAT.size + 1, 0)
        if len(stored) != _FORMAT.size:
            os.ftruncate(fd, 0)
        os.pwrite(fd, _pack(map(operator.add, _unpack(stored), change)), 0)
    finally:
        os.close(fd)


def _pack(values: Iterable[float]) -> bytes:
    try:
        return _FORMAT.pack(*values)
    except struct.error:  # what was stored was no count
        return _FORMAT.pack(*Statistics())


def _unpack(data: bytes) -> tuple[Any, ...]:
    if len(data) != _FORMAT.size:
        return Statistics()
    return _FORMAT.unpack(data)
