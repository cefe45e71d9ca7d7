"""The codec on a schema of its own, against the `flatbuffers` package."""

from __future__ import annotations

import copy
import pickle
import struct
from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import flatbuffers
import pytest

from pteron.errors import FormatError, UsageError
from pteron.flatbuf import (
    BOOL,
    FLOAT64,
    INT8,
    INT32,
    UINT8,
    UINT64,
    Buffer,
    Reader,
    Table,
    blob,
    clone,
    differ,
    encode,
    load_all,
    scalar,
    string,
    subtable,
    tables,
    union,
    vector,
)


class Colour(IntEnum):
    RED = 0
    BLUE = 2


@dataclass(slots=True)
class Leaf(Table):
    number: int = scalar(INT32, "A number.", default=5)


@dataclass(slots=True)
class Name(Table):
    text: str = string("A text.")


@dataclass(slots=True)
class Branch(Table):
    leaves: list[Leaf] = tables(Leaf, "Leaves.")


@dataclass(slots=True)
class Tree(Table):
    flag: bool = scalar(BOOL, "A flag.", default=False)
    big: int = scalar(UINT64, "A large number.")
    colour: Colour = scalar(INT8, "A colour.", enum=Colour)
    ratio: float = scalar(FLOAT64, "A ratio.", default=0.0)
    name: str = string("A text.")
    nick: str | None = string("Another.", optional=True)
    sizes: list[int] = vector(INT32, "Numbers.")
    order: list[int] = vector(UINT8, "Bytes.")
    data: Buffer = blob("Bytes.", alignment=32)
    leaf: Leaf | None = subtable(Leaf, "One leaf.")
    root: Name = subtable(Name, "The root.", required=True)
    branches: list[Branch] = tables(Branch, "Branches.")
    extra: list[Leaf] | None = tables(Leaf, "More.", optional=True)
    either: Leaf | Name | None = union([Leaf, Name], "One of them.")


def full() -> Tree:
    return Tree(
        flag=True,
        big=1 << 63,
        colour=Colour.BLUE,
        ratio=-0.0,
        name="Baum Ω",
        nick="",
        sizes=[-1, 2, 3, 4, 5, 6, 7, 8],
        order=[1, 0],
        data=bytes(range(100)),
        leaf=Leaf(7),
        root=Name("root"),
        branches=[Branch([Leaf(i) for i in range(3)]), Branch()],
        extra=[],
        either=Name("either"),
    )


def written(tree: Table, **options: Any) -> bytes:
    return b"".join(encode(tree, b"TREE", **options).pieces)


def read(data: bytes) -> Tree:
    return Reader(memoryview(data)).root(Tree)


@pytest.mark.parametrize("tree", [full(), Tree(), Tree(either=Leaf(5), extra=[Leaf()])])
def test_round_trip(tree: Tree) -> None:
    data = written(tree)
    assert not differ(read(data), tree)
    assert written(read(data)) == data


def test_read_by_the_flatbuffers_package() -> None:
    """The vtable and offsets as another implementation follows them."""
    data = written(full())
    table = flatbuffers.table.Table(data, struct.unpack_from("<I", data)[0])

    def at(slot: int) -> int:
        return table.Pos + table.Offset(4 + 2 * slot)

    assert table.Get(flatbuffers.number_types.Uint64Flags, at(1)) == 1 << 63
    assert table.String(at(4)).decode() == "Baum Ω"
    assert table.VectorLen(table.Offset(4 + 2 * 6)) == 8
    start = table.Vector(table.Offset(4 + 2 * 8))
    assert start % 32 == 0 and data[start : start + 100] == bytes(range(100))
    assert len(data) % 32 == 0


def test_reads_what_the_flatbuffers_package_writes() -> None:
    builder = flatbuffers.Builder()
    text = builder.CreateString("other")
    builder.StartObject(1)
    builder.PrependUOffsetTRelativeSlot(0, text, 0)
    name = builder.EndObject()
    builder.StartObject(15)
    builder.PrependUOffsetTRelativeSlot(10, name, 0)
    builder.PrependInt8Slot(2, 1, 0)
    builder.Finish(builder.EndObject())
    tree = read(bytes(builder.Output()))
    assert tree == Tree(root=Name("other"), colour=1)  # type: ignore[arg-type]


def test_vectors_of_tables_are_decoded_when_read() -> None:
    tree = read(written(full()))
    with pytest.raises(AttributeError):
        object.__getattribute__(tree, "branches")
    assert tree.branches[0].leaves == [Leaf(0), Leaf(1), Leaf(2)]
    tree.branches = []
    assert tree.branches == []


@pytest.mark.parametrize("copier", [clone, copy.deepcopy, lambda t: pickle.loads(pickle.dumps(t))])
def test_copies_are_deep(copier: Any) -> None:
    tree = read(written(full()))
    tree.data = bytes(tree.data)
    other = copier(tree)
    assert other == tree
    other.branches[0].leaves[0].number = 99
    assert tree.branches[0].leaves[0].number == 0


def test_equal_strings_and_short_vectors_are_shared() -> None:
    one = written(Tree(branches=[Branch([Leaf(1)])], name="x" * 100, root=Name("x" * 100)))
    assert one.count(b"x" * 100) == 1


def test_unknown_fields_are_noticed() -> None:
    @dataclass(slots=True)
    class Newer(Leaf):
        later: int = scalar(INT32, "Came later.")

    reader = Reader(memoryview(written(Newer(1, later=2))))
    assert reader.root(Leaf) == Leaf(1)
    ((table, field, _),) = reader.unknown.values()
    assert (table, field) == ("Leaf", "slot 1")


def test_unknown_union_members_are_noticed() -> None:
    data = bytearray(written(Tree(either=Leaf(1))))
    root = struct.unpack_from("<I", data)[0]
    vtable = root - struct.unpack_from("<i", data, root)[0]
    tag = root + struct.unpack_from("<H", data, vtable + 4 + 2 * 13)[0]
    data[tag] = 9
    reader = Reader(memoryview(bytes(data)))
    assert reader.root(Tree).either is None
    assert [field for _, field, _ in reader.unknown.values()] == ["either: member 9"]


@pytest.mark.parametrize(
    ("tree", "message"),
    [
        (
            Tree(branches=[Branch(), Branch([Leaf(), Leaf(1 << 40)])]),
            "branches[1].leaves[1].number",
        ),
        (Tree(sizes=[1, "2"]), "sizes"),  # type: ignore[list-item]
        (Tree(root=None), "root: is missing"),  # type: ignore[arg-type]
        (Tree(either=Branch()), "either: a Branch does not belong here"),  # type: ignore[arg-type]
        (Tree(leaf=Name("x")), "leaf: a Name where a Leaf belongs"),  # type: ignore[arg-type]
        (Tree(branches=Leaf()), "branches"),  # type: ignore[arg-type]
    ],
)
def test_what_cannot_be_written_is_named(tree: Tree, message: str) -> None:
    with pytest.raises(UsageError, match=message.replace("[", r"\[").replace("]", r"\]")):
        written(tree)


def corrupt(data: bytes, old: bytes, new: bytes) -> bytes:
    assert data.count(old) == 1
    return data.replace(old, new)


def test_errors_name_field_and_byte() -> None:
    data = written(Tree(branches=[Branch(), Branch([Leaf(1)])], name="needle"))
    bad = corrupt(data, b"needle\0", b"needl\xff\0")
    with pytest.raises(FormatError, match=r"^name: string is not UTF-8") as caught:
        read(bad)
    assert caught.value.where == "name"
    assert caught.value.offset == data.index(b"needle") + 5


def test_errors_in_lazy_fields_have_whole_paths() -> None:
    tree = full()
    data = bytearray(written(tree))
    entry = _first_entry_of_leaves(data)
    struct.pack_into("<I", data, entry, 0x7FFFFFFF)
    opened = read(bytes(data))
    with pytest.raises(FormatError, match=r"^branches\[0\]\.leaves\[0\]: table is past the end"):
        load_all(opened)


def _first_entry_of_leaves(data: bytearray) -> int:
    def follow(at: int) -> int:
        return at + int(struct.unpack_from("<I", data, at)[0])

    def field(table: int, slot: int) -> int:
        vtable = table - struct.unpack_from("<i", data, table)[0]
        return table + int(struct.unpack_from("<H", data, vtable + 4 + 2 * slot)[0])

    branches = follow(field(follow(0), 11))
    return follow(field(follow(branches + 4), 0)) + 4


def test_missing_required_table() -> None:
    builder = flatbuffers.Builder()
    builder.StartObject(15)
    builder.Finish(builder.EndObject())
    with pytest.raises(FormatError, match=r"^root: is missing"):
        read(bytes(builder.Output()))


@pytest.mark.parametrize("size", range(12))
def test_tiny_buffers(size: int) -> None:
    with pytest.raises(FormatError):
        read(bytes(size))
