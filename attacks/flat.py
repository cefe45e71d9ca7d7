"""Small helpers over the `flatbuffers` package, which lets one write what no honest tool writes."""

from __future__ import annotations

import flatbuffers


def table(builder: flatbuffers.Builder, slots: int, **offsets: int) -> int:
    """A table of offsets: ``table(b, 8, slot1=vector)``."""
    builder.StartObject(slots)
    for name, offset in offsets.items():
        builder.PrependUOffsetTRelativeSlot(int(name.removeprefix("slot")), offset, 0)
    return builder.EndObject()


def repeated(builder: flatbuffers.Builder, item: int, count: int) -> int:
    """A vector whose ``count`` entries are all the same table."""
    builder.StartVector(4, count, 4)
    for _ in range(count):
        builder.PrependUOffsetTRelative(item)
    return builder.EndVector()


def finish(builder: flatbuffers.Builder, root: int) -> bytearray:
    """The bytes of a program file without segments."""
    builder.Finish(root, file_identifier=b"ET12")
    return bytearray(builder.Output())
