"""``coremldata.bin`` of a compiled ML program: the model's description, as its package had it.

Layout, little-endian, found in files of several compilers: u32 502 (the ML program's number in
``Model.proto``), u32, 20 bytes, u64 length and text of a class name, i32 specification version, 28
bytes, then u64 length and bytes of a ``ModelDescription`` message.
"""

from __future__ import annotations

import struct

from google.protobuf.message import DecodeError

from pteron.errors import FormatError
from pteron.payloads.coreml.proto.model_pb2 import Model, ModelDescription

_CLASS_NAME = 28  # where its length stands
_VERSION = 32  # bytes from its version to the description's length
_ML_PROGRAM = Model.DESCRIPTOR.fields_by_name["mlProgram"].number


def read_compiled(data: memoryview, where: str) -> Model:
    """Specification version and description, without the program. Raises FormatError."""
    try:
        (kind,) = struct.unpack_from("<I", data)
        if kind != _ML_PROGRAM:
            raise FormatError(f"describes a model of kind {kind}, no ML program", where=where)
        (length,) = struct.unpack_from("<Q", data, _CLASS_NAME)
        start = _CLASS_NAME + 8 + length
        (version,) = struct.unpack_from("<i", data, start)
        (size,) = struct.unpack_from("<Q", data, start + _VERSION)
    except (struct.error, OverflowError) as error:
        raise FormatError(f"too short: {error}", where=where) from None
    message = data[start + _VERSION + 8 :][:size]
    if len(message) != size:
        raise FormatError(f"a description of {size} bytes, past the end", where=where)
    try:
        description = ModelDescription.FromString(bytes(message))
    except DecodeError as error:
        raise FormatError(f"no description of a model: {error}", where=where) from error
    return Model(specificationVersion=version, description=description)
