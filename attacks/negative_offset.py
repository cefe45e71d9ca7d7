"""A vtable before the beginning of the file."""

from __future__ import annotations

import struct

import flatbuffers
from flat import finish, table
from hold import hold

from pteron.files import open as open_file


def negative() -> bytes:
    builder = flatbuffers.Builder()
    data = finish(builder, table(builder, 8))
    struct.pack_into("<i", data, struct.unpack_from("<I", data)[0], 0x7FFFFFFF)
    return bytes(data)


if __name__ == "__main__":
    hold(
        lambda: open_file(negative()).program,  # type: ignore[union-attr]
        "vtable is outside the buffer",
    )
