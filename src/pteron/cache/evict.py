"""Decides which entries must go so that others have room, and takes them out of the cache."""

from __future__ import annotations

import time
from dataclasses import dataclass

from pteron.cache import usage as usages
from pteron.cache.catalogue import entries, orphans
from pteron.cache.generations import Claim, claim, delete_unheld
from pteron.cache.layout import Layout
from pteron.cache.reader import last_used, read_pointer
from pteron.cache.tree import remove_tree
from pteron.cache.usage import Candidate, Usage
from pteron.errors import CacheError

_QUEUE = 256
_SCAN_INTERVAL = 86400.0
_SECOND = 1_000_000_000


@dataclass(frozen=True)
class Limits:
    """What a cache may keep.

    Attributes:
        max_bytes: bytes of all entries together; None for no limit.
        max_age: seconds since an entry's last use; None for no limit.
    """

    max_bytes: int | None = None
    max_age: float | None = None


def make_room(
    layout: Layout, limits: Limits, *, room: int = 0, keep: str | None = None
) -> list[Claim]:
    """Take the least recently used entries out of the cache until ``room`` more bytes fit.

    Called under the cache's lock. The claims returned are to be deleted once it is released.
    Entries that a live process holds stay, and so does the one named ``keep``. Usually this looks
    at the entries it evicts and at no others: a scan of all remembers the oldest for later calls.
    """
    usage = usages.read(layout)
    fresh = usage is None or _is_scan_due(usage, limits)
    if usage is None or fresh:
        usage = scan(layout)
    claims = _evict(layout, usage, limits, room, keep)
    if not fresh and _is_over(usage, limits, room):
        usage = scan(layout)
        claims += _evict(layout, usage, limits, room, keep)
    del usage.oldest[_QUEUE:]
    usages.write(layout, usage)
    return claims


def scan(layout: Layout) -> Usage:
    """Look at every entry: what they hold together, and in which order they were used last.

    Sweeps on the way: broken entries are unpublished, orphaned generations deleted.
    """
    now = time.time()
    whole = []
    for listed in entries(layout):
        if listed.manifest is None:
            remove_tree(layout.entries / listed.identifier)
        else:
            candidate = Candidate(
                listed.identifier, listed.generation, listed.last_used, listed.manifest.size
            )
            whole.append(candidate)
    for orphan in orphans(layout, {candidate.generation for candidate in whole}):
        delete_unheld(layout, orphan)
    # A use in the future was noted before the clock went back: before every one in the past.
    whole.sort(key=lambda it: (it.last_used <= now * _SECOND, it.last_used))
    return Usage(sum(candidate.size for candidate in whole), now, whole)


def _is_scan_due(usage: Usage, limits: Limits) -> bool:
    interval = min(_SCAN_INTERVAL, limits.max_age / 8 if limits.max_age else _SCAN_INTERVAL)
    return abs(time.time() - usage.scanned) > interval


def _is_over(usage: Usage, limits: Limits, room: int) -> bool:
    return limits.max_bytes is not None and usage.bytes + room > limits.max_bytes


def _is_old(candidate: Candidate, limits: Limits) -> bool:
    age = time.time() - candidate.last_used / _SECOND
    return limits.max_age is not None and age > limits.max_age


def _evict(
    layout: Layout, usage: Usage, limits: Limits, room: int, keep: str | None
) -> list[Claim]:
    claims = []
    while usage.oldest and (_is_over(usage, limits, room) or _is_old(usage.oldest[0], limits)):
        candidate = usage.oldest.pop(0)
        claimed = None if candidate.identifier == keep else _unpublish(layout, candidate)
        if claimed:
            usage.bytes -= candidate.size
            claims.append(claimed)
    return claims


def _unpublish(layout: Layout, candidate: Candidate) -> Claim | None:
    """Unpublish an entry unless it was replaced or used since the scan, or is held."""
    try:
        if read_pointer(layout, candidate.identifier) != candidate.generation:
            return None
    except CacheError:
        return None
    if last_used(layout, candidate.generation) != candidate.last_used:
        return None
    claimed = claim(layout, candidate.generation)
    if claimed:
        (layout.entries / candidate.identifier).unlink(missing_ok=True)
    return claimed
