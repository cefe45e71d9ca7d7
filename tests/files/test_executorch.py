"""Against ExecuTorch: the same fields, the same blobs, and the same numbers when run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
import torch
from executorch.runtime import Runtime, Verification

from pteron.files import PTDFile, PTEFile
from pteron.files import open as open_file
from pteron.files.check import check
from tests.files.made import Made
from tests.files.oracle import plain, run, their_file, their_program

CORPUS = [
    "add-2023.pte",
    "add-2024.pte",
    "conv2d-quantized.pte",
    "dynamic-shape.pte",
    "keyword-spotting-ethos-u.pte",
    "linear-external.pte",
    "linear-inline-constants.pte",
    "lstm.pte",
    "multi-method.pte",
    "softmax-2023.pte",
    "stories260k-qnn.pte",
]


def opened(data: bytes) -> PTEFile:
    file = open_file(data)
    assert isinstance(file, PTEFile)
    return file


def rewritten(data: bytes) -> bytes:
    """The file encoded from objects, whether modified or not."""
    return b"".join(opened(data)._encode())


def assert_same_fields(data: bytes) -> None:
    assert plain(opened(data).program) == their_program(data)


def assert_same_blobs(data: bytes) -> None:
    """Blobs of ours against those that ExecuTorch restores (which keep their padding)."""
    file, theirs = opened(data), their_file(data)
    for index, ours in enumerate(file.constants[1:], 1):
        assert bytes(ours) == theirs.program.constant_buffer[index].storage[: len(ours)]
    for ours, buffer in zip(file.mutable_data, theirs.mutable_data or [], strict=True):
        assert bytes(ours) == buffer.storage[: len(ours)]
    restored = theirs.program.backend_delegate_data
    tables = [d for plan in theirs.program.execution_plan for d in plan.delegates]
    for ours, table in zip(file.delegates, tables, strict=True):
        assert bytes(ours.payload) == restored[table.processed.index].data
    named = theirs.named_data
    for key, blob in file.named_data.items():
        assert bytes(blob.data) == named.buffers[named.pte_data[key].buffer_index]


def assert_runtime_accepts(data: bytes) -> None:
    """ExecuTorch's C++ verifier goes through every table; only the wheel's refusal of inline
    constants counts for nothing."""
    if data[8:12] == b"eh00" or len(opened(data).constants) < 2:
        Runtime.get().load_program(data, verification=Verification.InternalConsistency)


def assert_rewriting_is_faithful(data: bytes) -> None:
    again = rewritten(data)
    assert len(again) <= len(data)
    assert rewritten(again) == again
    assert plain(their_file(again)) == plain(their_file(data))
    assert_runtime_accepts(again)
    before = [(segment.size, segment.alignment) for segment in opened(data).segments]
    after = [(segment.size, segment.alignment) for segment in opened(again).segments]
    assert [size for size, _ in after] == [size for size, _ in before]
    assert all(new % old == 0 for (_, new), (_, old) in zip(after, before, strict=True))


@pytest.mark.parametrize("name", CORPUS)
def test_corpus(corpus: Path, name: str) -> None:
    data = (corpus / name).read_bytes()
    assert_same_fields(data)
    assert_same_blobs(data)
    assert_rewriting_is_faithful(data)
    assert not [found for found in check(opened(data)) if found.severity == "error"]


def test_made_by_executorch(made_file: Made) -> None:
    assert_same_fields(made_file.pte)
    assert_same_blobs(made_file.pte)
    assert_rewriting_is_faithful(made_file.pte)
    assert check(opened(made_file.pte)) == []


def test_runs_the_same(made_file: Made) -> None:
    expected = run(made_file, made_file.pte)
    parts = PTEFile(**vars(opened(made_file.pte).parts())).to_bytes()
    for data in (rewritten(made_file.pte), parts):
        for call, outputs in run(made_file, data).items():
            for one, other in zip(outputs, expected[call], strict=True):
                assert torch.equal(one, other), call


@pytest.mark.parametrize("kind", ["external_constants", "xnnpack_external"])
def test_data_files(made: Callable[[str], Made], kind: str) -> None:
    from executorch.extension.flat_tensor.serialize.serialize import FlatTensorSerializer

    made_file = made(kind)
    (data,) = made_file.data.values()
    file = open_file(data)
    assert isinstance(file, PTDFile)
    assert check(file) == []
    again = b"".join(file._encode())
    assert len(again) <= len(data)
    for version in (data, again):
        theirs = FlatTensorSerializer().deserialize(version)
        assert file.named_data.keys() == theirs.named_data.keys()
        for key, blob in file.named_data.items():
            entry = theirs.named_data[key]
            assert bytes(blob.data) == theirs.buffers[entry.buffer_index]
            if blob.tensor_layout is not None:
                assert plain(blob.tensor_layout)[1] == plain(entry.tensor_layout)[1]
    made_again = Made(made_file.pte, made_file.inputs, {"again": again})
    first, second = run(made_file, made_file.pte), run(made_again, made_file.pte)
    for one, other in zip(first["forward first"], second["forward first"], strict=True):
        assert torch.equal(one, other)
