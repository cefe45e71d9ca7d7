"""Sizes of a program's payloads and constants."""

from __future__ import annotations

from pathlib import Path

import pteron
from pteron.files import BundledFile, PTEFile
from pteron.payloads.coreml.directories import is_package
from pteron.payloads.coreml.package import directory_source
from pteron.schema.program import Tensor


def payload_bytes(path: Path) -> int:
    """Bytes of all delegates' payloads with the named data they share, or of a package's files."""
    if is_package(path):
        source = directory_source(path)
        return sum(len(source.read(name)) for name in source.paths())
    with pteron.open(path) as opened:
        program = opened.pte if isinstance(opened, BundledFile) else opened
        if not isinstance(program, PTEFile):
            return 0
        own = sum(len(delegate.payload) for delegate in program.delegates)
        return own + sum(len(blob.data) for blob in program.named_data.values())


def constant_bytes(path: Path, method: str) -> int:
    """Bytes of constants that a program's method uses outside of delegates."""
    if is_package(path):
        return 0
    with pteron.open(path) as opened:
        program = opened.pte if isinstance(opened, BundledFile) else opened
        if not isinstance(program, PTEFile):
            return 0
        tensors = [value.val for value in program.methods[method].plan.values]
        found = [
            data
            for tensor in tensors
            if isinstance(tensor, Tensor) and tensor.allocation_info is None
            if (data := program.data_of(tensor)) is not None
        ]
        return sum(map(len, found))
