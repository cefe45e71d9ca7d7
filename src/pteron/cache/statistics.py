"""Counts what a cache did, over all processes that ever used it."""

from __future__ import annotations

import json
import os
from dataclasses import asdict, dataclass, fields

from pteron.cache import locks
from pteron.cache.layout import Layout

_LENGTH = 512


@dataclass(frozen=True)
class Statistics:
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

    def __add__(self, other: Statistics) -> Statistics:
        mine, others = asdict(self), asdict(other)
        return Statistics(**{name: mine[name] + others[name] for name in mine})


def read(layout: Layout) -> Statistics:
    """The counts so far; zeros if there are none, or none that can be read."""
    try:
        return _parse(layout.statistics.read_bytes())
    except FileNotFoundError:
        return Statistics()


def add(layout: Layout, change: Statistics) -> None:
    """Add to the counts, in place and by one write, so that a kill cannot tear them."""
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    fd = os.open(layout.statistics, flags, 0o600)
    try:
        locks.flock(fd, wait=True)
        total = _parse(os.pread(fd, _LENGTH, 0)) + change
        os.pwrite(fd, json.dumps(asdict(total)).encode().ljust(_LENGTH), 0)
    finally:
        os.close(fd)


def _parse(data: bytes) -> Statistics:
    try:
        stored = json.loads(data)
        return Statistics(**{field.name: 0 + stored[field.name] for field in fields(Statistics)})
    except (ValueError, KeyError, TypeError):
        return Statistics()
