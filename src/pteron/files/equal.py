"""Finding equal blobs without reading more than needed."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence

import xxhash

from pteron.flatbuf import Buffer

_SAMPLE = 256
_CHUNK = 1 << 18


def first_equals(blobs: Sequence[Buffer]) -> list[int]:
    """For each blob the index of the first one that equals it, which is its own if none does.

    Only blobs that have the size, the first and the last bytes of another one are read as a whole.
    """
    samples = [_sample(blob) for blob in blobs]
    counts = Counter(samples)
    first: dict[Hashable, int] = {}
    found: list[int] = []
    for index, blob in enumerate(blobs):
        if counts[samples[index]] > 1:
            known = first.setdefault((len(blob), xxhash.xxh3_128_digest(blob)), index)
            if known != index and same_bytes(blobs[known], blob):  # not only of the same hash
                index = known
        found.append(index)
    return found


def same_bytes(one: Buffer, other: Buffer) -> bool:
    """Whether two blobs are equal; memoryviews themselves compare element by element, slowly."""
    return len(one) == len(other) and all(
        bytes(one[at : at + _CHUNK]) == bytes(other[at : at + _CHUNK])
        for at in range(0, len(one), _CHUNK)
    )


def _sample(blob: Buffer) -> tuple[int, bytes, bytes]:
    return len(blob), bytes(blob[:_SAMPLE]), bytes(blob[-_SAMPLE:])
