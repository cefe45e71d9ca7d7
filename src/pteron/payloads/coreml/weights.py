"""``weight.bin``: constants of an ML program, read in place.

Source of the facts: coremltools' ``MILBlob/Blob/StorageFormat.hpp``. Everything is little-endian
and starts at multiples of 64 bytes: a storage header (u32 count, u32 version 2, zeros), then per
blob a metadata record (u32 sentinel, u32 type, u64 size in bytes, u64 offset in the file, u64
unused bits at the end of a packed blob, zeros) and the blob's bytes. A program refers to a blob by
the offset of its record.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pteron.errors import FormatError, UnsupportedError
from pteron.payloads.coreml.blob_types import BLOB_TYPES, BlobType

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

ALIGNMENT = 64
HEADER_SIZE = RECORD_SIZE = 64
VERSION = 2
SENTINEL = 0xDEADBEEF
_HEADER = struct.Struct("<II")
_RECORD = struct.Struct("<IIQQQ")


@dataclass(frozen=True)
class BlobRecord:
    """Where a blob is and what it holds.

    Attributes:
        record_offset: offset of its metadata record in the file, in bytes.
        offset: offset of its data in the file, in bytes.
        size: bytes of data.
        type: its element type.
        count: its number of elements.
    """

    record_offset: int
    offset: int
    size: int
    type: BlobType
    count: int


class WeightFile:
    """A weight file over any buffer. Opening it checks its header only."""

    def __init__(self, data: memoryview, name: str = "weight.bin") -> None:
        self.data = data
        self.name = name
        if len(data) < HEADER_SIZE:
            raise FormatError(f"{len(data)} bytes, less than the header's 64", where=name)
        self.count, version = _HEADER.unpack_from(data)
        if version != VERSION:
            raise UnsupportedError(f"{name}: version {version}; pteron reads version {VERSION}")

    def record(self, offset: int) -> BlobRecord:
        """The blob whose metadata record is at ``offset``. Raises FormatError if none can be."""
        if offset % ALIGNMENT or not 0 < offset <= len(self.data) - RECORD_SIZE:
            raise self._fault(f"no blob record can be at {offset} of {len(self.data)}", offset)
        sentinel, code, size, start, unused = _RECORD.unpack_from(self.data, offset)
        if sentinel != SENTINEL:
            raise self._fault(f"no blob record (it begins with {sentinel:#x})", offset)
        if code not in BLOB_TYPES:
            raise self._fault(f"blob of unknown data type {code}", offset)
        if start % ALIGNMENT or start + size > len(self.data):
            raise self._fault(
                f"blob data {start} + {size} is misaligned or past the end ({len(self.data)})",
                offset,
            )
        kind = BLOB_TYPES[code]
        if kind.bits >= 8:
            unused = 0  # early writers left anything at all in this field
        count, rest = divmod(8 * size - unused, kind.bits)
        if rest or unused >= 8 or count < 0:
            raise self._fault(f"{size} bytes less {unused} bits are no {kind.name} array", offset)
        return BlobRecord(offset, start, size, kind, count)

    def records(self) -> Iterator[BlobRecord]:
        """Every blob in the file's order, as far as they follow one another without a fault."""
        offset = HEADER_SIZE
        for _ in range(self.count):
            try:
                record = self.record(offset)
            except FormatError:
                return
            yield record
            after = max(offset + RECORD_SIZE, record.offset + record.size)
            offset = after + -after % ALIGNMENT

    def read(self, offset: int) -> NDArray[np.generic]:
        """The elements of the blob whose record is at ``offset``, as a 1-D array.

        Whole-byte types are read-only views of the file, of their own dtype (bfloat16 and float8
        from ``ml_dtypes``). Packed types are unpacked to one int8 (int4) or uint8 per element.
        """
        import numpy as np

        from pteron.payloads.packed import unpack

        record = self.record(offset)
        data = self.data[record.offset : record.offset + record.size]
        if record.type.bits < 8:
            signed = record.type.numpy == "int8"
            return unpack(data, record.type.bits, record.count, signed=signed)
        return np.frombuffer(data, _numpy_dtype(record.type))

    def _fault(self, problem: str, offset: int) -> FormatError:
        return FormatError(problem, where=self.name, offset=offset)


def _numpy_dtype(kind: BlobType) -> np.dtype[Any]:
    import numpy as np

    if kind.numpy.startswith(("bfloat", "float8")):
        import ml_dtypes

        exotic: np.dtype[Any] = np.dtype(getattr(ml_dtypes, kind.numpy))
        return exotic
    return np.dtype(kind.numpy).newbyteorder("<")
