"""Finding equal blobs without reading more than needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import xxhash

from pteron.flatbuf import Buffer


def first_equals(blobs: Sequence[Buffer]) -> list[int]:
    """For each blob the index of the first one that equals it, which is its own if none does.

    Only blobs of a size that occurs more than once are read.
    """
    sizes = Counter(map(len, blobs))
    first: dict[Hashable, int] = {}
    found: list[int] = []
    for index, blob in enumerate(blobs):
        if sizes[len(blob)] > 1:
            key = len(blob), xxhash.xxh3_128_digest(blob)
            index = first.setdefault(key, index)
            if blobs[index] != blob:  # two different blobs of one hash: keep both
                index = len(found)
        found.append(index)
    return found
