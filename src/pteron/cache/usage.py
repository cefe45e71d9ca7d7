"""Remembers how many bytes the entries hold, and which are oldest, so that stores need not look.

Read and written under the cache's lock only. What it says may be too much after a crash, never
too little; a scan puts it right.
"""

from __future__ import annotations

import json
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from typing import NamedTuple

from pteron.cache import durable
from pteron.cache.layout import Layout, identifier_of
from pteron.cache.tree import remove_tree

_LIMIT = 1 << 20


class Candidate(NamedTuple):
    """An entry that may be evicted; ``last_used`` in nanoseconds since the epoch."""

    identifier: str
    generation: str
    last_used: int
    size: int


@dataclass
class Usage:
    """Outcome of the last scan, and what happened since.

    Attributes:
        bytes: size of all entries.
        scanned: when the entries were looked at last, in seconds since the epoch.
        oldest: the entries that were used least recently then, the oldest first.
    """

    bytes: int
    scanned: float
    oldest: list[Candidate] = field(default_factory=list)


def read(layout: Layout) -> Usage | None:
    """What is known, None if a scan is needed to tell."""
    try:
        fields = json.loads(durable.read_file(layout.usage, _LIMIT))
        oldest = [Candidate(str(a), str(b), int(c), int(d)) for a, b, c, d in fields["oldest"]]
        if any(identifier_of(one.generation) != one.identifier for one in oldest):
            return None
        return Usage(int(fields["bytes"]), float(fields["scanned"]), oldest)
    except (OSError, ValueError, KeyError, TypeError):
        return None


def write(layout: Layout, usage: Usage | None) -> None:
    """Remember it; None: forget, so that the next store scans.

    A disk too full to remember is no reason to fail: what is forgotten is found by a scan.
    """
    remove_tree(layout.usage)
    if usage is not None:
        with suppress(OSError):
            layout.usage.write_text(json.dumps(asdict(usage)))


def add(layout: Layout, size: int | None) -> None:
    """Count bytes that were added (or, negative, removed); None if nobody knows how many."""
    usage = read(layout)
    if usage is not None and size is not None:
        usage.bytes += size
        write(layout, usage)
    else:
        write(layout, None)
