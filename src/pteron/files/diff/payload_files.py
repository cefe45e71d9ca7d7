"""The files in a payload, by size and digest."""

from __future__ import annotations

from pteron.errors import PteronError
from pteron.files.methods import Delegate
from pteron.files.program_file import PTEFile
from pteron.payloads import open_payload
from pteron.payloads.digest import digest_files


def payload_files(file: PTEFile, delegate: Delegate) -> dict[str, str]:
    """Path -> size and the beginning of the digest; a payload nobody can read is one file."""
    try:
        source = open_payload(
            delegate.backend_id, delegate.payload, file.named_data, delegate.method
        )
    except PteronError:
        return {"payload": _identity(delegate.payload)}
    return {path: _identity(source.read(path)) for path in source.paths()}


def _identity(data: memoryview) -> str:
    return f"{len(data)} bytes, digest {digest_files('', {'': data})[:16]}"
