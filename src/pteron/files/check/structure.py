"""Tables that do not decode, and fields of a newer schema."""

from __future__ import annotations

from collections.abc import Iterator

from pteron.errors import FormatError
from pteron.files.bundled_file import BundledFile
from pteron.files.check.finding import Finding, error
from pteron.files.data_file import PTDFile
from pteron.files.program_file import PTEFile
from pteron.flatbuf import Table, decoding_errors


def check_structure(file: PTEFile | PTDFile | BundledFile) -> Iterator[Finding]:
    """Every fault of the flatbuffer, and segments that are outside the file."""
    try:
        root = _root(file)
    except FormatError as fault:
        yield unopenable(fault)
        return
    faults = list(decoding_errors(root))
    if not faults and not isinstance(file, BundledFile):
        faults = list(_unreadable_segments(file))
    yield from map(unopenable, faults)


def _root(file: PTEFile | PTDFile | BundledFile) -> Table:
    if isinstance(file, PTEFile):
        return file.program
    return file.flat_tensor if isinstance(file, PTDFile) else file.bundle


def _unreadable_segments(file: PTEFile | PTDFile) -> Iterator[FormatError]:
    try:
        file.segments  # noqa: B018 - reading them verifies them
    except FormatError as fault:
        yield fault


def unopenable(fault: FormatError) -> Finding:
    """The finding that an error of reading is."""
    at = f" (at byte {fault.offset})" if fault.offset is not None else ""
    return error(fault.where, fault.problem + at)
