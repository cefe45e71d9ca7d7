"""What the byte diagrams say agrees with those who read the same bytes otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from types import ModuleType

import pytest

import pteron
from tests.conftest import ROOT


@pytest.fixture(scope="module")
def samples() -> Iterator[ModuleType]:
    """``docs/_ext/sample_files.py``; its directory is on the path."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(ROOT / "docs" / "_ext")
        import sample_files

        yield sample_files


def test_the_program_s_head_is_what_executorch_reads(samples: ModuleType) -> None:
    from executorch.exir._serialize._program import _ExtendedHeader
    from fields import PTE, read_fields

    data = samples.program()
    values = {field.name: field.value for field in read_fields(data, PTE)}
    theirs = _ExtendedHeader.from_bytes(data[8:40])
    assert values["identifier"] == "ET12"
    assert values["program size"] == f"{theirs.program_size:,}"
    assert values["segment base"] == f"{theirs.segment_base_offset:,}"
    assert values["segment data size"] == f"{theirs.segment_data_size:,}"


def test_the_data_file_s_head_is_what_executorch_reads(samples: ModuleType) -> None:
    from executorch.extension.flat_tensor.serialize.serialize import FlatTensorHeader
    from fields import PTD, read_fields

    data = samples.data()
    values = {field.name: field.value for field in read_fields(data, PTD)}
    theirs = FlatTensorHeader.from_bytes(data[8:48])
    assert values["flatbuffer offset"] == f"{theirs.flatbuffer_offset:,}"
    assert values["flatbuffer size"] == f"{theirs.flatbuffer_size:,}"
    assert values["segment base"] == f"{theirs.segment_base_offset:,}"


@pytest.mark.parametrize("name", ["pte-layout", "ptd-layout", "bpte-layout"])
def test_layouts_cover_the_file(samples: ModuleType, name: str) -> None:
    from fields import leaves

    from pteron.files.size import size_tree

    file = {"pte": samples.program, "ptd": samples.data, "bpte": samples.bundle}[name.split("-")[0]]
    fields = leaves(size_tree(pteron.open(file())), 2)
    end = 0
    for field in fields:
        assert field.offset == end
        end += field.size
    assert end == len(file())


def test_every_diagram_is_drawn(samples: ModuleType) -> None:
    from byte_diagram import DIAGRAMS

    for draw in DIAGRAMS.values():
        assert draw().startswith("<table")


def test_a_row_of_a_grid_is_sixteen_columns_at_most(samples: ModuleType) -> None:
    from byte_diagram import grid
    from fields import Field

    html = grid(bytes(40), [Field(0, 3, "a"), Field(3, 30, "<b>", "1")])
    assert html.count("(continued)") == 2
    assert "&lt;b&gt;" in html and "<td colspan='13'>" in html
