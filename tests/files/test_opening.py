"""What can be opened, what cannot, and what is said then."""

from __future__ import annotations

import gc
import mmap
import os
from pathlib import Path

import numpy as np
import pytest

from pteron.errors import FileAccessError, FormatError, UsageError
from pteron.files import BundledFile, NamedBlob, PTDFile, PTEFile
from pteron.files import open as open_file
from tests.files.programs import add_program, busy_program


@pytest.fixture
def program(tmp_path: Path) -> Path:
    path = tmp_path / "busy.pte"
    busy_program().save(path)
    return path


def test_kinds_are_told_by_content(tmp_path: Path) -> None:
    pte = add_program()
    for file in (pte, PTDFile({"a": NamedBlob(b"x")}), BundledFile(pte)):
        path = tmp_path / "whatever.bin"
        file.save(path)
        with open_file(path) as opened:
            assert type(opened) is type(file)


@pytest.mark.parametrize("wrap", [bytes, bytearray, memoryview, lambda b: np.frombuffer(b, "u1")])
def test_any_buffer(program: Path, wrap: object) -> None:
    data = program.read_bytes()
    opened = open_file(wrap(data))  # type: ignore[operator]
    assert isinstance(opened, PTEFile)
    assert list(opened.methods) == ["forward"]
    assert opened.path is None


def test_missing_path_and_directory(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match="No such file"):
        open_file(tmp_path / "nothing.pte")
    with pytest.raises(FileAccessError, match="is a directory"):
        open_file(str(tmp_path))
    with pytest.raises(FileAccessError, match="null"):
        open_file("a\0b")
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileAccessError, match="not a regular file"):
        open_file(tmp_path / "pipe")


def test_what_is_no_file_at_all() -> None:
    with pytest.raises(UsageError, match="not int"):
        open_file(3)  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="not contiguous"):
        open_file(memoryview(bytes(100))[::2])


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "empty"),
        (b"ET12", "cut off after 4 bytes"),
        (b"this is a text, not a program\n", "not an ExecuTorch file"),
        (b"\x1c\0\0\0ET11" + bytes(100), "has identifier ET11, an older or newer format"),
        (b"\x1c\0\0\0BP07" + bytes(100), "has identifier BP07"),
        (b"\x1c\0\0\0FT01" + bytes(100), "needs a header"),
    ],
)
def test_bad_content(tmp_path: Path, data: bytes, message: str) -> None:
    path = tmp_path / "bad.pte"
    path.write_bytes(data)
    for target in (path, data):
        with pytest.raises(FormatError, match=message) as caught:
            open_file(target)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("kept", [0.1, 0.5, 0.9, 0.999])
def test_truncated(program: Path, kept: float) -> None:
    data = program.read_bytes()
    with pytest.raises(FormatError, match="truncated"):
        open_file(data[: int(len(data) * kept)])


def test_segment_past_the_end(program: Path) -> None:
    """In the words of the file, with absolute offsets."""
    with open_file(program) as file:
        assert isinstance(file, PTEFile)
        last = len(file.segments) - 1
        start = file.segment_base + file.program.segments[last].offset
        size = file.program.segments[last].size
    data = bytearray(program.read_bytes())
    data[32:40] = bytes(8)  # a header that does not say how large the segments are
    cut = bytes(data[: start + size - 1])
    file = open_file(cut)
    assert isinstance(file, PTEFile)
    expected = f"segments[{last}]: offset {start} + size {size} is past the end of the file"
    with pytest.raises(FormatError) as caught:
        file.segments  # noqa: B018
    assert str(caught.value) == f"{expected} ({len(cut)})"


def test_opening_reads_no_more_than_the_header(program: Path) -> None:
    with open_file(program) as file:
        assert not {"program", "segments"} & file.__dict__.keys()


def test_blobs_are_views_of_the_map(program: Path) -> None:
    with open_file(program) as file:
        assert isinstance(file, PTEFile)
        named = memoryview(file.named_data["one"].data)
        views = [file.delegates[0].payload, file.constants[1], file.mutable_data[1], named]
        assert {type(view.obj) for view in views} == {mmap.mmap}
        assert all(view.readonly for view in views)


def descriptors(path: Path) -> int:
    links = Path("/proc/self/fd").iterdir()
    return sum(link.exists() and link.resolve() == path.resolve() for link in links)


def is_mapped(path: Path) -> bool:
    return str(path) in Path("/proc/self/maps").read_text()


def test_closing_releases_the_map(program: Path) -> None:
    with open_file(program) as file:
        assert isinstance(file, PTEFile)
        assert len(file.delegates) == 2 and is_mapped(program)
    assert not is_mapped(program) and not descriptors(program)
    with pytest.raises(UsageError, match="closed"):
        file.program  # noqa: B018


def test_closing_a_bundle_releases_the_map(tmp_path: Path) -> None:
    path = tmp_path / "bundle.bpte"
    BundledFile(busy_program()).save(path)
    with open_file(path) as file:
        assert isinstance(file, BundledFile)
        assert file.pte.methods["forward"].inputs and is_mapped(path)
    assert not is_mapped(path)


def test_tables_outlive_closing(program: Path) -> None:
    with open_file(program) as file:
        assert isinstance(file, PTEFile)
        table = file.program
    assert [value.val for value in table.execution_plan[0].values]


def test_views_outlive_closing(program: Path) -> None:
    with open_file(program) as file:
        assert isinstance(file, PTEFile)
        payload = file.delegates[0].payload
    assert bytes(payload[:8]) == b"payload "
    assert is_mapped(program)
    del payload
    gc.collect()
    assert not is_mapped(program)


def test_closed_files_say_so(program: Path) -> None:
    file = open_file(program)
    file.close()
    file.close()
    with pytest.raises(UsageError, match="closed"):
        file.to_bytes()


def test_replacing_a_mapped_file_is_safe(program: Path) -> None:
    with open_file(program) as file:
        assert isinstance(file, PTEFile)
        payload = file.delegates[0].payload
        replacement = program.with_suffix(".new")
        replacement.write_bytes(b"something else")
        replacement.replace(program)
        assert bytes(payload[:8]) == b"payload "


def test_early_data_file(corpus: Path) -> None:
    """A file of early 2025, whose root table was another one under the same identifier."""
    with open_file(corpus / "linear-external.ptd") as file:
        assert isinstance(file, PTDFile)
        weight = file.named_data["linear.weight"]
        assert weight.tensor_layout is not None
        assert weight.tensor_layout.sizes == [3, 3] and len(weight.data) == 36
        again = open_file(PTDFile(file.named_data).to_bytes())
        assert isinstance(again, PTDFile)
        assert {k: bytes(b.data) for k, b in again.named_data.items()} == {
            k: bytes(b.data) for k, b in file.named_data.items()
        }


@pytest.mark.parametrize(("name", "cases"), [("bundled-2023.bp", 2), ("bundled-2025.bpte", 10)])
def test_bundles(corpus: Path, name: str, cases: int) -> None:
    with open_file(corpus / name) as file:
        assert isinstance(file, BundledFile)
        (suite,) = file.test_suites
        assert suite.method_name == "forward" and len(suite.test_cases) == cases
        assert list(file.pte.methods) == ["forward"]


def test_an_empty_path() -> None:
    with pytest.raises(FileAccessError, match="the path is empty"):
        open_file("")
