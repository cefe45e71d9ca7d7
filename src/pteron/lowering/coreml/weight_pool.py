"""One weight file for several functions; blobs that are equal are stored once.

The layout is that of :mod:`pteron.payloads.coreml.weights`, from where the blobs come.
"""

from __future__ import annotations

import struct

import xxhash

from pteron.payloads.coreml.weights import ALIGNMENT, HEADER_SIZE, RECORD_SIZE, VERSION, WeightFile

_PLACE = struct.Struct("<Q")
_PLACE_AT = 16
"""Where in a blob's record the offset of its data stands."""


class WeightPool:
    """A weight file in the making."""

    def __init__(self) -> None:
        self._parts: list[bytes | memoryview] = []
        self._known: dict[bytes, int] = {}
        self._end = HEADER_SIZE
        self.common = 0
        """Bytes of blobs that were there already when they were added again."""

    def add(self, file: WeightFile, offset: int) -> int:
        """Where the blob whose record is at ``offset`` of ``file`` has its record here."""
        record = file.record(offset)
        data = file.data[record.offset : record.offset + record.size]
        head = bytearray(file.data[offset : offset + RECORD_SIZE])
        head[_PLACE_AT : _PLACE_AT + _PLACE.size] = bytes(_PLACE.size)
        digest = xxhash.xxh3_128_digest(head) + xxhash.xxh3_128_digest(data)
        if digest in self._known:
            self.common += len(data)
            return self._known[digest]
        place = self._known[digest] = self._end
        _PLACE.pack_into(head, _PLACE_AT, place + RECORD_SIZE)
        padding = bytes(-len(data) % ALIGNMENT)
        self._parts += [bytes(head), data, padding]
        self._end += RECORD_SIZE + len(data) + len(padding)
        return place

    def to_bytes(self) -> bytes:
        """The file; empty if nothing was added."""
        if not self._known:
            return b""
        header = struct.pack("<II", len(self._known), VERSION).ljust(HEADER_SIZE, b"\0")
        return b"".join([header, *self._parts])
