"""Element types of blobs in a weight file.

The numbers are those of coremltools' ``MILBlob/Blob/BlobDataType.hpp``.
"""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class BlobType:
    """An element type.

    Attributes:
        name: as in MIL, lower case (``float16``, ``uint3``).
        bits: bits per element in the file; elements of less than 8 are packed without gaps.
        numpy: dtype name of the array they are read into (``ml_dtypes`` for the exotic floats).
    """

    name: str
    bits: int
    numpy: str


_WHOLE = {
    1: BlobType("float16", 16, "float16"),
    2: BlobType("float32", 32, "float32"),
    3: BlobType("uint8", 8, "uint8"),
    4: BlobType("int8", 8, "int8"),
    5: BlobType("bfloat16", 16, "bfloat16"),
    6: BlobType("int16", 16, "int16"),
    7: BlobType("uint16", 16, "uint16"),
    14: BlobType("int32", 32, "int32"),
    15: BlobType("uint32", 32, "uint32"),
    16: BlobType("float8e4m3fn", 8, "float8_e4m3fn"),
    17: BlobType("float8e5m2", 8, "float8_e5m2"),
}
_PACKED = {
    8: BlobType("int4", 4, "int8"),
    9: BlobType("uint1", 1, "uint8"),
    10: BlobType("uint2", 2, "uint8"),
    11: BlobType("uint4", 4, "uint8"),
    12: BlobType("uint3", 3, "uint8"),
    13: BlobType("uint6", 6, "uint8"),
}
BLOB_TYPES: dict[int, BlobType] = {**_WHOLE, **_PACKED}
