"""Saving: byte for byte where nothing changed, faithful where something did, all or nothing."""

from __future__ import annotations

import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pteron.errors import FileAccessError, UnsupportedError, UsageError
from pteron.files import BundledFile, NamedBlob, PTDFile, PTEFile, Segment, saving
from pteron.files import open as open_file
from pteron.flatbuf import encode
from pteron.schema import bundled
from pteron.schema.flat_tensor import TensorLayout
from pteron.schema.program import IDENTIFIER, Double, EValue, Program, ScalarType
from tests.files.programs import add_plan, add_program, busy_program, float_tensor

ALL = [
    "add-2023.pte",
    "add-2024.pte",
    "bundled-2023.bp",
    "bundled-2025.bpte",
    "conv2d-quantized.pte",
    "dynamic-shape.pte",
    "keyword-spotting-ethos-u.pte",
    "linear-external.pte",
    "linear-external.ptd",
    "linear-inline-constants.pte",
    "lstm.pte",
    "multi-method.pte",
    "softmax-2023.pte",
    "stories260k-qnn.pte",
]


def read_everything(file: PTEFile | PTDFile | BundledFile) -> None:
    assert file.unknown_fields == []
    program = file.pte if isinstance(file, BundledFile) else file
    if isinstance(program, PTEFile):
        assert [value for plan in program.program.execution_plan for value in plan.values]
        assert program.delegates is not None and program.constants is not None
    assert program.named_data is not None


@pytest.mark.parametrize("name", ALL)
def test_unmodified_is_byte_identical(corpus: Path, tmp_path: Path, name: str) -> None:
    data = (corpus / name).read_bytes()
    with open_file(corpus / name) as file:
        file.save(tmp_path / "copy")
        assert (tmp_path / "copy").read_bytes() == data
        read_everything(file)
        file.save(tmp_path / "copy")
        assert (tmp_path / "copy").read_bytes() == data
        assert file.to_bytes() == data


@pytest.mark.parametrize("name", [name for name in ALL if "early" not in name])
def test_modified_keeps_the_rest(corpus: Path, name: str) -> None:
    data = (corpus / name).read_bytes()
    with open_file(data) as file:
        root = _root(file)
        root.version += 7
        again = file.to_bytes()
    with open_file(again) as written:
        assert _root(written).version == root.version
        _root(written).version -= 7
        if name != "linear-external.ptd":  # rewritten in the format of today
            assert len(again) <= len(data)
        assert b"".join(open_file(again)._encode()) == again


def _root(file: PTEFile | PTDFile | BundledFile) -> Program:
    if isinstance(file, BundledFile):
        return file.bundle  # type: ignore[return-value]
    return file.program if isinstance(file, PTEFile) else file.flat_tensor  # type: ignore[return-value]


def test_not_a_number_is_no_modification() -> None:
    values = [float_tensor(0), EValue(Double(float("nan")))]
    file = PTEFile(Program(execution_plan=[add_plan(values, [0])]))
    data = file.to_bytes()
    opened = open_file(data)
    assert isinstance(opened, PTEFile)
    assert len(opened.program.execution_plan[0].values) == 2
    assert next(iter(opened.pieces())) == data


def test_over_the_open_file(tmp_path: Path) -> None:
    path = tmp_path / "busy.pte"
    busy_program().save(path)
    with open_file(path) as file:
        assert isinstance(file, PTEFile)
        payload = file.delegates[0].payload
        file.program.execution_plan[0].name = "renamed"
        file.save(path)
        assert bytes(payload[:8]) == b"payload "
        file.save(path)
    with open_file(path) as file:
        assert isinstance(file, PTEFile)
        assert list(file.methods) == ["renamed"]
        assert bytes(file.delegates[0].payload) == b"payload " * 20
    assert [entry.name for entry in tmp_path.iterdir()] == ["busy.pte"]


def test_through_a_symbolic_link(tmp_path: Path) -> None:
    target, link = tmp_path / "target.pte", tmp_path / "link.pte"
    target.write_bytes(b"old")
    target.chmod(0o640)
    link.symlink_to(target)
    add_program().save(link)
    assert link.is_symlink() and target.read_bytes() == add_program().to_bytes()
    assert target.stat().st_mode & 0o777 == 0o640


def test_failure_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "busy.pte"
    busy_program().save(path)
    before = path.read_bytes()

    def full_disk(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(saving.os, "fsync", full_disk)
    with pytest.raises(FileAccessError, match="No space left on device"):
        add_program().save(path)
    assert path.read_bytes() == before
    assert [entry.name for entry in tmp_path.iterdir()] == ["busy.pte"]


def test_unwritable_places(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match="cannot be written"):
        add_program().save(tmp_path / "missing" / "a.pte")
    with pytest.raises(FileAccessError, match="cannot be written"):
        add_program().save(tmp_path)


@pytest.mark.parametrize("kernel", [True, False])
def test_large_blobs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, kernel: bool) -> None:
    """With the kernel's copy from the mapped file, and without."""
    blob = os.urandom(3 << 20)
    path, copy = tmp_path / "large.pte", tmp_path / "copy.pte"
    PTEFile(Program(), named_data={"blob": NamedBlob(blob), "end": NamedBlob(b"end")}).save(path)
    if not kernel:
        monkeypatch.delattr(os, "copy_file_range")
    with open_file(path) as file:
        assert isinstance(file, PTEFile)
        file.program.version = 1
        file.save(copy)
    with open_file(copy) as file:
        assert file.named_data["blob"].data == blob  # type: ignore[union-attr]
        assert file.named_data["end"].data == b"end"  # type: ignore[union-attr]


def with_unknown_field() -> bytes:
    """A file whose root has a field of a newer schema: a ninth one, set to 7."""
    from dataclasses import dataclass, fields

    from pteron.flatbuf import INT32, scalar

    @dataclass(slots=True)
    class Newer(Program):
        later: int = scalar(INT32, "Came later.")

    old = busy_program()
    values = {field.name: getattr(old.program, field.name) for field in fields(Program)}
    values["segments"] = []
    for plan in old.program.execution_plan:
        plan.delegates = []
    values |= {"constant_segment": None, "mutable_data_segments": None, "named_data": None}
    return b"".join(encode(Newer(**values, later=7), IDENTIFIER).pieces)


def test_unknown_fields() -> None:
    data = with_unknown_field()
    file = open_file(data)
    assert isinstance(file, PTEFile)
    assert [(table, field) for table, field, _ in file.unknown_fields] == [("Program", "slot 8")]
    assert file.to_bytes() == data
    file.program.version = 1
    with pytest.raises(UnsupportedError, match=r"Program\.slot 8"):
        file.to_bytes()
    assert open_file(file.to_bytes(drop_unknown=True)).unknown_fields == []


def test_segments_can_be_replaced() -> None:
    file = open_file(busy_program().to_bytes())
    assert isinstance(file, PTEFile)
    index = file.program.execution_plan[0].delegates[0].processed.index
    segments = list(file.segments)
    segments[index] = Segment((b"a new ", b"payload"), segments[index].alignment)
    file.segments = segments
    again = open_file(file.to_bytes())
    assert isinstance(again, PTEFile)
    assert bytes(again.delegates[0].payload) == b"a new payload"
    assert bytes(again.delegates[1].payload) == b"other"


def test_data_files() -> None:
    layout = TensorLayout(ScalarType.FLOAT, [2], [0])
    blobs = {
        "one": NamedBlob(b"12345678", 16, layout),
        "same": NamedBlob(b"12345678", 256),
        "other": NamedBlob(b"x", 1),
    }
    file = open_file(PTDFile(blobs).to_bytes())
    assert isinstance(file, PTDFile)
    assert len(file.segments) == 2
    named = file.named_data
    assert {key: bytes(blob.data) for key, blob in named.items()} == {
        "one": b"12345678",
        "same": b"12345678",
        "other": b"x",
    }
    assert named["one"].tensor_layout == layout and named["same"].tensor_layout is None
    assert named["same"].alignment % 256 == 0


def test_bundles_embed_the_program_as_it_is() -> None:
    pte = busy_program()
    tensor = bundled.Tensor(ScalarType.FLOAT, [1], b"1234", [0])
    case = bundled.BundledMethodTestCase([bundled.Value(tensor)], [])
    data = BundledFile(pte, [bundled.BundledMethodTestSuite("forward", [case])]).to_bytes()
    assert pte.to_bytes() in data
    assert data.index(pte.to_bytes()) % 32 == 0
    file = open_file(data)
    assert isinstance(file, BundledFile)
    assert file.pte.to_bytes() == pte.to_bytes()
    (read,) = file.test_suites[0].test_cases
    assert read == case
    file.pte.program.execution_plan[0].name = "renamed"
    again = open_file(file.to_bytes())
    assert isinstance(again, BundledFile)
    assert list(again.pte.methods) == ["renamed"]


def test_bundle_of_a_replaced_program() -> None:
    file = open_file(BundledFile(busy_program()).to_bytes())
    assert isinstance(file, BundledFile)
    file.pte = add_program()
    again = open_file(file.to_bytes())
    assert isinstance(again, BundledFile)
    assert again.pte.to_bytes() == add_program().to_bytes()


def test_what_cannot_be_written() -> None:
    file = add_program()
    file.program.execution_plan[0].inputs = [1 << 40]
    with pytest.raises(UsageError, match=r"execution_plan\[0\]\.inputs"):
        file.to_bytes()


def test_unknown_fields_of_a_program_in_a_bundle() -> None:
    """They are lost only where the program itself is rewritten."""
    inner = open_file(with_unknown_field())
    assert isinstance(inner, PTEFile)
    file = open_file(BundledFile(inner).to_bytes())
    assert isinstance(file, BundledFile)
    assert [table for table, _, _ in file.unknown_fields] == ["Program"]
    file.test_suites.append(bundled.BundledMethodTestSuite("forward"))
    assert file.pte.to_bytes() in file.to_bytes()
    file.pte.program.version = 1
    with pytest.raises(UnsupportedError, match=r"Program\.slot 8"):
        file.to_bytes()
    again = open_file(file.to_bytes(drop_unknown=True))
    assert again.unknown_fields == []


def test_a_pipe_is_written_through_and_stays(tmp_path: Path) -> None:
    program = add_program()
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with ThreadPoolExecutor(1) as pool:
        read = pool.submit(pipe.read_bytes)
        program.save(pipe)
        assert read.result(timeout=10) == program.to_bytes()
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
def test_a_device_stays_one(tmp_path: Path) -> None:
    link = tmp_path / "link"
    link.symlink_to("/dev/full")
    with pytest.raises(FileAccessError, match="No space left"):
        add_program().save(link)
    assert stat.S_ISCHR(Path("/dev/full").stat().st_mode)
    add_program().save("/dev/null")
    assert stat.S_ISCHR(Path("/dev/null").stat().st_mode)


def test_a_directory_is_refused(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match="directory"):
        add_program().save(tmp_path)
    assert list(tmp_path.iterdir()) == []
