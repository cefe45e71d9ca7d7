"""Opening any of the three kinds of file by its content."""

from __future__ import annotations

import os

from pteron.errors import FormatError, PteronError
from pteron.files.bundled_file import BundledFile
from pteron.files.data_file import PTDFile
from pteron.files.program_file import PTEFile
from pteron.files.source import Buffer, Source, open_source
from pteron.schema import bundled, flat_tensor, program

_KINDS: dict[bytes, type[PTEFile] | type[PTDFile] | type[BundledFile]] = {
    program.IDENTIFIER: PTEFile,
    flat_tensor.IDENTIFIER: PTDFile,
    bundled.IDENTIFIER: BundledFile,
}


def open(target: str | os.PathLike[str] | Buffer) -> PTEFile | PTDFile | BundledFile:
    """Open a program (.pte), tensor data (.ptd) or a bundled program (.bpte), by its content.

    Opening maps the file and reads its header; everything else is read where it is needed.

    Args:
        target: a path, bytes, or any contiguous buffer, which must not change while it is open.

    Raises:
        FileAccessError: the path is missing, a directory, or cannot be read.
        FormatError: it is not such a file; or later, where a part of it that is read is wrong.
    """
    source = open_source(target)
    try:
        return _kind(source).from_source(source)
    except PteronError:
        source.close()
        raise


def _kind(source: Source) -> type[PTEFile] | type[PTDFile] | type[BundledFile]:
    identifier = bytes(source.view[4:8])
    kind = _KINDS.get(identifier)
    if kind is None:
        raise FormatError(_diagnosis(source, identifier))
    return kind


def _diagnosis(source: Source, identifier: bytes) -> str:
    known = ", ".join(sorted(key.decode() for key in _KINDS))
    if len(source.view) < 8:
        return f"{source.name}: is cut off after {len(source.view)} bytes"
    if identifier[:2] in {key[:2] for key in _KINDS} and identifier[2:].isalnum():
        version = identifier.decode("ascii", "replace")
        return f"{source.name}: has identifier {version}, an older or newer format; read: {known}"
    return f"{source.name}: is not an ExecuTorch file (identifiers: {known})"
