"""Everything that reading a file can reach, on one input."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress

from pteron.errors import PteronError
from pteron.files import BundledFile, PTDFile, PTEFile
from pteron.files import open as open_file
from pteron.files.check import check
from pteron.files.summary import summarise


def exercise(data: bytes) -> bool:
    """Read, check and rewrite ``data``; whether it was a file. Anything but PteronError escapes."""
    try:
        file = open_file(data)
    except PteronError:
        return False
    for part in (check, _rewrite, summarise, *_LOOKS):
        with suppress(PteronError):
            part(file)
    return True


def _rewrite(file: PTEFile | PTDFile | BundledFile) -> None:
    for _ in file._encode():
        pass


def _program(file: PTEFile | PTDFile | BundledFile) -> PTEFile:
    if isinstance(file, PTDFile):
        raise PteronError("has no program")
    return file.pte if isinstance(file, BundledFile) else file


def _values(file: PTEFile | PTDFile | BundledFile) -> None:
    for method in _program(file).methods.values():
        with suppress(PteronError):
            method.inputs, method.outputs  # noqa: B018


_LOOKS: tuple[Callable[[PTEFile | PTDFile | BundledFile], object], ...] = (
    _values,
    lambda file: file.named_data if isinstance(file, PTDFile) else None,
    lambda file: _program(file).delegates,
    lambda file: _program(file).constants,
    lambda file: _program(file).mutable_data,
    lambda file: _program(file).named_data,
    lambda file: _program(file).parts(),
)
