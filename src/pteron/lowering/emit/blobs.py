"""Tensor data of a program, each distinct content stored once."""

from __future__ import annotations

import xxhash


class Blobs:
    """A list of byte strings; index 0 is the empty one that the format reserves."""

    def __init__(self) -> None:
        self.content: list[bytes | memoryview] = [b""]
        self._known: dict[bytes, int] = {}

    def add(self, data: bytes | memoryview) -> int:
        """Index of ``data``; content seen before keeps its index."""
        digest = xxhash.xxh3_128_digest(data)
        if digest not in self._known:
            self._known[digest] = len(self.content)
            self.content.append(data)
        return self._known[digest]
