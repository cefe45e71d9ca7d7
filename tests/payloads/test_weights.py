"""``weight.bin`` against coremltools' own writer and reader of it."""

from __future__ import annotations

import struct
from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
from coremltools import libmilstoragepython as milstorage

from pteron.errors import FormatError, UnsupportedError
from pteron.payloads.coreml.blob_types import BLOB_TYPES
from pteron.payloads.coreml.weights import WeightFile

RANDOM = np.random.default_rng(7)


def whole(dtype: str, count: int = 37):
    info = np.iinfo(dtype)
    return RANDOM.integers(info.min, info.max, count, dtype, endpoint=True)


def packed(low: int, high: int, count: int, dtype: str = "uint8"):
    return RANDOM.integers(low, high, count, dtype, endpoint=True)


# coremltools' name of the type -> the values to write
ARRAYS = {
    "float": RANDOM.standard_normal(33).astype(np.float32),
    "fp16": RANDOM.standard_normal(5).astype(np.float16),
    "int8": whole("int8"),
    "uint8": whole("uint8"),
    "int16": whole("int16"),
    "uint16": whole("uint16"),
    "int32": whole("int32"),
    "uint32": whole("uint32"),
    "int4": packed(-8, 7, 41, "int8"),
    "uint4": packed(0, 15, 41),
    "uint1": packed(0, 1, 43),
    "uint2": packed(0, 3, 43),
    "uint3": packed(0, 7, 43),
    "uint6": packed(0, 63, 43),
}


@pytest.fixture(scope="module")
def written(tmp_path_factory: pytest.TempPathFactory):
    """The file's bytes, and the offset of each array's record."""
    path = tmp_path_factory.mktemp("weights") / "weight.bin"
    writer = milstorage._BlobStorageWriter(str(path))
    offsets = {}
    for name, values in ARRAYS.items():
        stored = values.view(np.uint16) if name == "fp16" else values
        offsets[name] = getattr(writer, f"write_{name}_data")(stored)
    del writer
    return path.read_bytes(), offsets


@pytest.mark.parametrize("name", ARRAYS)
def test_reads_what_coremltools_writes(written, name: str):
    data, offsets = written
    values = WeightFile(memoryview(data)).read(offsets[name])
    np.testing.assert_array_equal(values, ARRAYS[name], strict=True)


@pytest.mark.parametrize("size", range(1, 25))
@pytest.mark.parametrize(("name", "bits"), [("uint3", 3), ("uint6", 6), ("uint1", 1), ("int4", 4)])
def test_packed_arrays_of_any_length(tmp_path: Path, name: str, bits: int, size: int):
    values = packed(0, 2**bits - 1, size) if name != "int4" else packed(-8, 7, size, "int8")
    writer = milstorage._BlobStorageWriter(str(tmp_path / "w"))
    offset = getattr(writer, f"write_{name}_data")(values)
    del writer
    file = WeightFile(memoryview((tmp_path / "w").read_bytes()))
    np.testing.assert_array_equal(file.read(offset), values, strict=True)


def test_records_are_walked_in_order(written):
    data, offsets = written
    file = WeightFile(memoryview(data))
    records = list(file.records())
    assert [record.record_offset for record in records] == list(offsets.values())
    assert [record.count for record in records] == [values.size for values in ARRAYS.values()]
    assert file.count == len(ARRAYS)


def test_whole_byte_types_are_read_in_place(written):
    data, offsets = written
    values = WeightFile(memoryview(data)).read(offsets["float"])
    assert np.shares_memory(values, np.frombuffer(data, np.uint8))
    assert not values.flags.writeable


def test_in_place_even_where_the_payload_is_not_aligned(written):
    data, offsets = written
    shifted = memoryview(b"x" + data)[1:]
    values = WeightFile(shifted).read(offsets["float"])
    np.testing.assert_array_equal(values, ARRAYS["float"])


def make(record: bytes = b"", header: bytes | None = None, blob: bytes = bytes(64)) -> memoryview:
    head = struct.pack("<II", 1, 2) if header is None else header
    return memoryview(head.ljust(64, b"\0") + record.ljust(64, b"\0") + blob)


def record(code=2, size=64, offset=128, unused=0, sentinel=0xDEADBEEF) -> bytes:
    return struct.pack("<IIQQQ", sentinel, code, size, offset, unused)


@pytest.mark.parametrize(
    ("code", "dtype"),
    [(5, ml_dtypes.bfloat16), (16, ml_dtypes.float8_e4m3fn), (17, ml_dtypes.float8_e5m2)],
)
def test_exotic_floats(code: int, dtype):
    # coremltools' Python writer has no call for these.
    values = np.array([1.5, -2.0, 0.25, 0.0], dtype)
    blob = values.tobytes()
    data = make(record(code, len(blob)), blob=blob.ljust(64, b"\0"))
    np.testing.assert_array_equal(WeightFile(data).read(64), values, strict=True)


def test_early_writers_leave_anything_in_the_unused_bits_field():
    assert WeightFile(make(record(unused=5104411984))).read(64).shape == (16,)


@pytest.mark.parametrize(
    ("data", "offset", "message"),
    [
        (make(record()), 63, "no blob record can be at 63"),
        (make(record()), 0, "no blob record can be at 0"),
        (make(record()), 192, "no blob record can be at 192"),
        (make(record()), 2**63, "no blob record can be"),
        (make(record(sentinel=1)), 64, "begins with 0x1"),
        (make(record(code=0)), 64, "unknown data type 0"),
        (make(record(code=99)), 64, "unknown data type 99"),
        (make(record(size=65)), 64, "past the end"),
        (make(record(size=2**64 - 1)), 64, "past the end"),
        (make(record(offset=2**64 - 64)), 64, "past the end"),
        (make(record(offset=100, size=4)), 64, "misaligned"),
        (make(record(size=63)), 64, "no float32 array"),
        (make(record(code=12, size=2, unused=0)), 64, "no uint3 array"),
        (make(record(code=9, size=1, unused=9)), 64, "no uint1 array"),
        (make(record(code=9, size=0, unused=1)), 64, "no uint1 array"),
    ],
)
def test_faults_are_format_errors(data: memoryview, offset: int, message: str):
    with pytest.raises(FormatError, match=message):
        WeightFile(data, "weight.bin").read(offset)


def test_header_faults():
    with pytest.raises(FormatError, match="less than the header"):
        WeightFile(memoryview(bytes(63)))
    with pytest.raises(UnsupportedError, match="version 3"):
        WeightFile(make(header=struct.pack("<II", 1, 3)))


def test_walking_stops_at_the_first_fault():
    assert list(WeightFile(make(record(), header=struct.pack("<II", 2**32 - 1, 2))).records()) == [
        WeightFile(make(record())).record(64)
    ]


def test_every_mil_blob_type_is_known():
    assert set(BLOB_TYPES) == set(range(1, 18))
