"""Decides which entries must go so that others have room, and takes them out of the cache."""

from __future__ import annotations

import time
from contextlib import suppress
from dataclasses import dataclass

from pteron.cache import locks
from pteron.cache import usage as usages
from pteron.cache.catalogue import entries
from pteron.cache.generations import Claim, claim
from pteron.cache.layout import Layout
from pteron.cache.reader import BrokenEntryError, last_used, read_pointer
from pteron.cache.sweep import claim_orphans
from pteron.cache.temporary import announced_work
from pteron.cache.tree import remove_tree
from pteron.cache.usage import Candidate, Usage

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
    at the entries it evicts and at no others: a scan of all remembers the oldest for later calls,
    and is repeated when those are used up. Age is looked at when a scan is due.
    """
    eviction = _Eviction(layout, limits, room, keep)
    usage = usages.read(layout)
    if usage is None or _is_scan_due(usage, limits) or not eviction.fit(usage):
        usage = scan(layout)
        eviction.expire(usage)
        eviction.fit(usage)
    del usage.oldest[_QUEUE:]
    usages.write(layout, usage)
    return eviction.claims


def evict(layout: Layout, limits: Limits) -> int:
    """Evict until the limits hold, as far as no live process holds entries; tells how many."""
    with announced_work(layout):
        with locks.exclusive(layout.lock, keep=True):
            usages.write(layout, None)
            claims = make_room(layout, limits)
        for claimed in claims:
            claimed.delete()
    return len(claims)


def scan(layout: Layout) -> Usage:
    """Look at every entry: what they hold together, and in which order they were used last.

    Sweeps on the way: broken entries are unpublished, orphaned generations deleted.
    """
    now = time.time_ns()
    whole = []
    for listed in entries(layout):
        if listed.manifest is None:
            remove_tree(layout.entries / listed.identifier)
        else:
            size = listed.manifest.size
            whole.append(Candidate(listed.identifier, listed.generation, listed.last_used, size))
    for orphan in claim_orphans(layout, {candidate.generation for candidate in whole}):
        orphan.delete()
    # A use in the future was noted before the clock went back: before every one in the past.
    whole.sort(key=lambda candidate: (candidate.last_used <= now, candidate.last_used))
    return Usage(sum(candidate.size for candidate in whole), now / _SECOND, whole)


class _Eviction:
    """Collects claims on entries that must go."""

    def __init__(self, layout: Layout, limits: Limits, room: int, keep: str | None) -> None:
        self.claims: list[Claim] = []
        self._layout = layout
        self._limits = limits
        self._room = room
        self._keep = keep

    def expire(self, usage: Usage) -> None:
        """Evict what is older than allowed."""
        if self._limits.max_age is not None:
            limit = time.time_ns() - int(self._limits.max_age * _SECOND)
            for candidate in [one for one in usage.oldest if one.last_used < limit]:
                usage.oldest.remove(candidate)
                self._evict(usage, candidate)

    def fit(self, usage: Usage) -> bool:
        """Evict the oldest until the room is there; False if those known do not suffice."""
        quota = self._limits.max_bytes
        while quota is not None and usage.bytes + self._room > quota:
            if not usage.oldest:
                return False
            self._evict(usage, usage.oldest.pop(0))
        return True

    def _evict(self, usage: Usage, candidate: Candidate) -> None:
        claimed = None
        if candidate.identifier != self._keep:
            claimed = _unpublish(self._layout, candidate)
        if claimed:
            usage.bytes -= candidate.size
            self.claims.append(claimed)


def _is_scan_due(usage: Usage, limits: Limits) -> bool:
    interval = min(_SCAN_INTERVAL, limits.max_age / 8 if limits.max_age else _SCAN_INTERVAL)
    return abs(time.time() - usage.scanned) > interval


def _unpublish(layout: Layout, candidate: Candidate) -> Claim | None:
    """Unpublish an entry unless it was replaced or used since the scan, or is held."""
    with suppress(BrokenEntryError):
        if read_pointer(layout, candidate.identifier) != candidate.generation:
            return None
        if last_used(layout, candidate.generation) != candidate.last_used:
            return None
        claimed = claim(layout, candidate.generation)
        if claimed:
            (layout.entries / candidate.identifier).unlink(missing_ok=True)
        return claimed
    return None
