"""A vector that claims four billion items."""

from __future__ import annotations

import struct

import flatbuffers
from flat import finish, repeated, table
from hold import hold

from pteron.files import open as open_file


def huge() -> bytes:
    builder = flatbuffers.Builder()
    plan = table(builder, 10)
    data = finish(builder, table(builder, 8, slot1=repeated(builder, plan, 3)))
    struct.pack_into("<I", data, data.index(struct.pack("<I", 3)), 0xFFFFFFFF)
    return bytes(data)


if __name__ == "__main__":
    hold(
        lambda: open_file(huge()).program.execution_plan,  # type: ignore[union-attr]
        "execution_plan: vector of 4294967295 x 4 bytes runs past the end",
    )
