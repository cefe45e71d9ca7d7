"""What every edited file must stand: ExecuTorch decodes it, its parts agree, it runs."""

from __future__ import annotations

from collections.abc import Sequence

import torch
from executorch.extension.pybindings import portable_lib

from pteron.files import PTEFile
from pteron.files import open as open_file
from pteron.files.check import check
from tests.files.oracle import plain, their_file, their_program


def program(data: bytes) -> PTEFile:
    """A program file opened from its bytes."""
    file = open_file(data)
    assert isinstance(file, PTEFile)
    return file


def proven(file: PTEFile) -> bytes:
    """The file's bytes, decoded by ExecuTorch to the same fields, and without a fault."""
    data = file.to_bytes()
    again = program(data)
    assert plain(again.program) == their_program(data)
    their_file(data)
    assert [finding for finding in check(again) if finding.severity != "note"] == []
    return data


def content(file: PTEFile) -> object:
    """What the file holds, whatever the places and alignments of its blobs."""
    parts = file.parts()
    named = {key: bytes(blob.data) for key, blob in parts.named_data.items()}
    groups = [[bytes(blob) for blob in group] for group in parts.mutable_data]
    blobs = [[bytes(b) for b in held] for held in (parts.constants, parts.delegate_payloads)]
    return parts.program.execution_plan, blobs, groups, named


def canonical(file: PTEFile) -> bytes:
    """The bytes of the same program written anew: what an edit that changes nothing gives."""
    return PTEFile(**vars(file.parts())).to_bytes()


def run(
    data: bytes,
    inputs: Sequence[torch.Tensor] = (),
    method: str = "forward",
    ptd: bytes | None = None,
    calls: int = 1,
) -> list[torch.Tensor]:
    """Outputs of the last of some calls of a method in ExecuTorch's runtime."""
    load = portable_lib._load_for_executorch_from_buffer
    module = load(data, ptd) if ptd else load(data)
    for _ in range(calls):
        outputs = module.run_method(method, tuple(tensor.clone() for tensor in inputs))
    return [torch.as_tensor(output).clone() for output in outputs]


def assert_equal(one: Sequence[torch.Tensor], other: Sequence[torch.Tensor]) -> None:
    """Bit for bit."""
    assert len(one) == len(other)
    for a, b in zip(one, other, strict=True):
        assert torch.equal(a, b)
