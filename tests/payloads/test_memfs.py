"""The in-memory file system against ExecuTorch's own implementation of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from executorch.backends.apple.coreml import executorchcoreml

from pteron.errors import FormatError, UsageError
from pteron.payloads.coreml.memfs import flatten, read_image, unflatten

TREES = {
    "one file": {"metadata.json": b"{}"},
    "package": {
        "model.mlpackage/Manifest.json": b'{"a": 1}',
        "model.mlpackage/Data/com.apple.CoreML/model.mlmodel": bytes(range(256)),
        "model.mlpackage/Data/com.apple.CoreML/weights/weight.bin": b"\xef\xbe\xad\xde" * 999,
        "metadata.json": b'{"identifier": "x"}',
    },
    "odd names": {"ü/ñ.bin": "wörld".encode(), 'quote".txt': b"1", "sp ace/tab\t": b"2"},
    "braces in data": {"a": b'}"{' * 20, "b": b'{"nodes":[]}'[::-1]},
}


def write(tree: dict[str, bytes], root: Path) -> None:
    for path, data in tree.items():
        target = root / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)


def read(root: Path) -> dict[str, bytes]:
    return {p.relative_to(root).as_posix(): p.read_bytes() for p in root.rglob("*") if p.is_file()}


def as_bytes(files) -> dict[str, bytes]:
    return {path: bytes(data) for path, data in files.items()}


@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_reads_what_executorch_flattens_and_writes_the_same_bytes(tmp_path: Path, tree):
    write(tree, tmp_path / "model")
    payload = executorchcoreml.flatten_directory_contents(str(tmp_path / "model"))

    image = read_image(payload)

    assert as_bytes(image.files) == tree
    assert image.root == "model"
    assert flatten(image.files, root="model") == payload


@pytest.mark.parametrize("alignment", [1, 64, 4096])
@pytest.mark.parametrize("tree", TREES.values(), ids=TREES)
def test_executorch_unflattens_what_we_write(tmp_path: Path, tree, alignment):
    payload = flatten(tree, root="copy", alignment=alignment)

    assert executorchcoreml.unflatten_directory_contents(payload, str(tmp_path))

    assert read(tmp_path / "copy") == tree
    image = read_image(payload)
    assert as_bytes(image.files) == tree
    assert all(offset % alignment == 0 for offset in image.offsets.values())


def test_an_empty_file_survives(tmp_path: Path):
    # Only reading is compared: ExecuTorch's flatten crashes on an empty file.
    payload = flatten({"empty": b"", "full": b"1"})

    assert executorchcoreml.unflatten_directory_contents(payload, str(tmp_path))

    assert read(tmp_path / "model") == as_bytes(unflatten(payload)) == {"empty": b"", "full": b"1"}


def test_executorchs_own_payload_is_a_fixed_point(coreml_program):
    payload = coreml_program.payloads["forward"]

    image = read_image(payload)

    assert "model.mlpackage/Manifest.json" in image.files
    assert "metadata.json" in image.files
    assert flatten(image.files, root=image.root) == payload


def test_zeros_after_the_index_are_passed_over(tmp_path: Path):
    # ExecuTorch leaves 33 of them after a model of over 1 GB.
    payload = flatten({"a": b"hello"}) + bytes(33)

    assert as_bytes(unflatten(payload)) == {"a": b"hello"}
    assert executorchcoreml.unflatten_directory_contents(payload, str(tmp_path))


def test_files_are_views_of_the_payload():
    payload = bytearray(flatten({"a": b"hello"}))
    (view,) = unflatten(payload).values()
    payload[0:1] = b"j"
    assert bytes(view) == b"jello"
    assert view.readonly


def test_flatten_refuses_a_path_that_is_a_file_and_a_directory():
    with pytest.raises(UsageError, match="file and a directory"):
        flatten({"a": b"", "a/b": b""})
    with pytest.raises(UsageError, match="file and a directory"):
        flatten({"a/b": b"", "a": b""})


@pytest.mark.parametrize("path", ["../a", "/a", "a//b", ".", "", "a\0", "a\\b", "C:/a", "a/.."])
def test_flatten_refuses_a_path_that_could_escape(path: str):
    with pytest.raises(FormatError):
        flatten({path: b""})
