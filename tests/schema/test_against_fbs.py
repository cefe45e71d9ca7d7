"""The declared schemas against ExecuTorch's own .fbs files: names, order, types, defaults."""

from __future__ import annotations

import re
from enum import IntEnum
from importlib.resources import files
from types import ModuleType

import pytest

from pteron import dtypes
from pteron.flatbuf import Table
from pteron.flatbuf.declare import Blob, Number, Numbers, String, Subtable, Tables, Union
from pteron.flatbuf.table import Slot, slots_of
from pteron.schema import bundled, flat_tensor, program

FBS: dict[ModuleType, tuple[str, str]] = {
    program: ("executorch.exir._serialize", "program.fbs"),
    flat_tensor: ("executorch.extension.flat_tensor.serialize", "flat_tensor.fbs"),
    bundled: ("executorch.devtools.bundled_program.serialize", "bundled_program_schema.fbs"),
}
SCALARS = {
    "bool": "bool",
    "byte": "int8",
    "ubyte": "uint8",
    "uint8": "uint8",
    "int": "int32",
    "int32": "int32",
    "uint": "uint32",
    "uint32": "uint32",
    "long": "int64",
    "int64": "int64",
    "uint64": "uint64",
    "double": "float64",
}


def source(module: ModuleType) -> str:
    package, name = FBS[module]
    text = files(package).joinpath(name).read_text()
    return re.sub(r"//[^\n]*", "", text)


def blocks(kind: str, text: str) -> dict[str, str]:
    """Name -> what stands between the braces, for every table, union or enum."""
    return dict(re.findall(rf"{kind}\s+(\w+)[^{{]*\{{([^}}]*)\}}", text))


def fields(body: str) -> list[tuple[str, str, str, str]]:
    """(name, type, default, attributes) of each field of a table."""
    found = re.findall(r"(\w+)\s*:\s*([\w.\[\]]+)\s*(?:=\s*([\w.]+))?\s*(\([^)]*\))?\s*;", body)
    return [(name, kind, default, attributes) for name, kind, default, attributes in found]


def table_of(module: ModuleType, name: str) -> type[Table]:
    found: type[Table] = getattr(module, name)
    return found


def assert_same(slot: Slot, kind: str, default: str, attributes: str, text: str) -> None:
    declared = slot.declared.type
    kind = kind.rpartition(".")[2]
    enums, unions = blocks("enum", text), blocks("union", text)
    if kind == "string":
        assert isinstance(declared, String)
    elif kind == "[ubyte]" and isinstance(declared, Blob):
        align = re.search(r"force_align:\s*(\d+)", attributes)
        assert declared.alignment == (int(align[1]) if align else 1)
    elif kind.startswith("["):
        assert_same_items(declared, kind.strip("[]"))
    elif kind in unions:
        assert isinstance(declared, Union)
        assert [t.__name__ for t in declared.tables] == re.findall(r"\w+", unions[kind])
    elif kind in enums or kind == "ScalarType":
        assert isinstance(declared, Number) and declared.members and declared.scalar.name == "int8"
        assert slot.declared.default == 0
    elif kind in SCALARS:
        assert isinstance(declared, Number) and declared.scalar.name == SCALARS[kind]
        assert slot.declared.default == int(default or 0)
    else:
        assert isinstance(declared, Subtable) and declared.table.__name__ == kind


def assert_same_items(declared: object, kind: str) -> None:
    if kind in SCALARS:
        assert isinstance(declared, Numbers) and declared.scalar.name == SCALARS[kind]
    else:
        assert isinstance(declared, Tables) and declared.table.__name__ == kind


@pytest.mark.parametrize("module", FBS, ids=lambda module: module.__name__.rpartition(".")[2])
def test_tables(module: ModuleType) -> None:
    text = source(module)
    tables = blocks("table", text)
    assert tables
    for name, body in tables.items():
        expected, slots = fields(body), slots_of(table_of(module, name))
        assert [slot.name for slot in slots] == [field for field, *_ in expected], name
        for slot, (_, kind, default, attributes) in zip(slots, expected, strict=True):
            assert_same(slot, kind, default, attributes, text)
        assert all(slot.declared.doc for slot in slots), name


@pytest.mark.parametrize("module", FBS, ids=lambda module: module.__name__.rpartition(".")[2])
def test_identifiers(module: ModuleType) -> None:
    (identifier,) = re.findall(r'file_identifier\s+"(....)"', source(module))
    assert identifier.encode() == module.IDENTIFIER


def enum_members(body: str) -> dict[str, int]:
    return {name: int(number) for name, number in re.findall(r"(\w+)\s*=\s*(\d+)", body)}


def test_enums() -> None:
    for name, body in blocks("enum", source(program)).items():
        ours: type[IntEnum] = getattr(program, name)
        assert {member.name: int(member) for member in ours} == enum_members(body)


def test_scalar_types() -> None:
    text = files("executorch.exir._serialize").joinpath("scalar_type.fbs").read_text()
    (body,) = blocks("enum", re.sub(r"//[^\n]*", "", text)).values()
    assert {member.name: int(member) for member in dtypes.ScalarType} == enum_members(body)
