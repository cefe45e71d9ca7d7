"""A thousand methods that are one, with a thousand values that are one list of a thousand numbers.

16 kilobytes that would decode to a billion numbers.
"""

from __future__ import annotations

import flatbuffers
from flat import finish, repeated, table
from hold import hold

from pteron.files import PTEFile
from pteron.files import open as open_file


def bomb(count: int = 1000) -> bytes:
    builder = flatbuffers.Builder()
    builder.StartVector(8, count, 8)
    for _ in range(count):
        builder.PrependInt64(7)
    numbers = table(builder, 1, slot0=builder.EndVector())
    builder.StartObject(2)
    builder.PrependUint8Slot(0, 7, 0)  # KernelTypes.IntList
    builder.PrependUOffsetTRelativeSlot(1, numbers, 0)
    plan = table(builder, 10, slot2=repeated(builder, builder.EndObject(), count))
    return bytes(finish(builder, table(builder, 8, slot1=repeated(builder, plan, count))))


def attack() -> None:
    file = open_file(bomb())
    assert isinstance(file, PTEFile)
    for plan in file.program.execution_plan:
        len(plan.values)


if __name__ == "__main__":
    hold(attack, "shared offsets make this larger than any honest file")
