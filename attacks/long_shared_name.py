"""Twenty thousand operators that share one name of a megabyte: printing them would take 20 GB."""

from __future__ import annotations

import flatbuffers
from flat import finish, repeated, table
from hold import hold

from pteron.files import PTEFile
from pteron.files import open as open_file


def shared_name(count: int = 20_000) -> bytes:
    builder = flatbuffers.Builder()
    name = builder.CreateString("x" * (1 << 20))
    places = []
    for _ in range(count):
        builder.StartObject(2)
        builder.PrependUOffsetTRelativeSlot(0, name, 0)
        places.append(builder.EndObject())
    builder.StartVector(4, count, 4)
    for place in places:
        builder.PrependUOffsetTRelative(place)
    plan = table(builder, 10, slot6=builder.EndVector())
    return bytes(finish(builder, table(builder, 8, slot1=repeated(builder, plan, 1))))


def attack() -> None:
    file = open_file(shared_name())
    assert isinstance(file, PTEFile)
    len(file.program.execution_plan[0].operators)


if __name__ == "__main__":
    hold(attack, "shared offsets make this larger than any honest file")
