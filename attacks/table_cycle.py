"""A table whose field leads back to the table itself.

Offsets are unsigned, so a way back must wrap around 32 bits; it is not followed. Nor could a cycle
be: the schema says which table each field holds, and no table of it holds itself.
"""

from __future__ import annotations

import struct

import flatbuffers
from flat import finish, repeated, table
from hold import hold

from pteron.files import open as open_file


def cycle() -> bytes:
    builder = flatbuffers.Builder()
    plan = table(builder, 10)
    program = table(builder, 8, slot1=repeated(builder, plan, 1))
    data = finish(builder, program)
    root = struct.unpack_from("<I", data)[0]
    entry = data.index(struct.pack("<I", 1), root) + 4  # behind the vector's length
    struct.pack_into("<I", data, entry, (root - entry) & 0xFFFFFFFF)
    return bytes(data)


if __name__ == "__main__":
    hold(
        lambda: open_file(cycle()).program.execution_plan,  # type: ignore[union-attr]
        "execution_plan[0]: table is past the end",
    )
