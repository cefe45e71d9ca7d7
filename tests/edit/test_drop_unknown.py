"""A file with a field of a newer schema is not rewritten without being told to lose it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pytest

from pteron import edit
from pteron.errors import UnsupportedError
from pteron.files import NamedBlob, PTDFile, PTEFile
from pteron.files import open as open_file
from pteron.flatbuf import UINT32, encode, scalar
from pteron.schema.flat_tensor import FlatTensor
from pteron.schema.program import IDENTIFIER, Program
from tests.edit.proof import proven
from tests.files.programs import add_constant_program


@dataclass(slots=True)
class NewerProgram(Program):
    """The program table of a schema to come."""

    novelty: int = scalar(UINT32, "What it brings.")


@dataclass(slots=True)
class NewerFlatTensor(FlatTensor):
    """Likewise for data files; files of early 2025 had something in the first slot."""

    early: int = scalar(UINT32, "Absent.")
    novelty: int = scalar(UINT32, "What it brings.")


@pytest.fixture
def newer() -> PTEFile:
    """Adds a constant, and has a field that pteron does not know."""
    constant = np.ones(4, np.float32).tobytes()
    parts = add_constant_program([b"", constant], inline_constants=True).program
    fields = {name: getattr(parts, name) for name in Program.__dataclass_fields__}
    data = b"".join(encode(NewerProgram(**fields, novelty=7), IDENTIFIER).pieces)
    file = open_file(data)
    assert isinstance(file, PTEFile)
    assert [(u.table, u.field) for u in file.unknown_fields] == [("Program", "slot 8")]
    return file


def another() -> PTEFile:
    return edit.rename(add_constant_program([b"", bytes(16)]), {"forward": "another"})


EDITS: dict[str, Callable[[PTEFile], PTEFile]] = {
    "rename": lambda f: edit.rename(f, {"forward": "other"}),
    "drop": lambda f: edit.drop(f, []),
    "merge": lambda f: edit.merge(another(), f),
    "add_constant_methods": lambda f: edit.add_constant_methods(f, {"get": 1}),
    "replace_constant": lambda f: edit.replace_constant(f, 1, np.zeros((2, 2), np.float32)),
    "externalise": lambda f: edit.externalise(f)[0],
    "inline": lambda f: edit.inline(f),
    "realign": lambda f: edit.realign(f, tensors=64),
    "strip_stack_traces": edit.strip_stack_traces,
    "strip_payload_debug_info": edit.strip_payload_debug_info,
    "strip_unused": edit.strip_unused,
    "twice": lambda f: edit.strip_unused(edit.rename(f, {"forward": "other"})),
}


@pytest.mark.parametrize("name", EDITS)
def test_it_is_lost_only_when_told(newer: PTEFile, name: str) -> None:
    edited = EDITS[name](newer)
    with pytest.raises(UnsupportedError, match=r"newer schema .*drop_unknown drops them"):
        edited.to_bytes()
    data = edited.to_bytes(drop_unknown=True)
    again = open_file(data)
    assert isinstance(again, PTEFile)
    assert again.unknown_fields == []
    if name != "externalise":
        proven(again)


def test_data_files() -> None:
    file = PTDFile({"a": NamedBlob(b"1234")})
    fields = {name: getattr(file.flat_tensor, name) for name in FlatTensor.__dataclass_fields__}
    file.flat_tensor = NewerFlatTensor(**fields, novelty=7)
    newer = open_file(b"".join(file._encode()))
    assert isinstance(newer, PTDFile)
    edited = edit.replace_external(newer, "a", b"5678")
    with pytest.raises(UnsupportedError, match="newer schema"):
        edited.to_bytes()
    again = open_file(edited.to_bytes(drop_unknown=True))
    assert isinstance(again, PTDFile)
    assert bytes(again.named_data["a"].data) == b"5678"
