"""Whether the file is of the schema that pteron knows."""

from __future__ import annotations

from collections.abc import Iterator

from pteron.files.check.finding import Finding, warning
from pteron.files.program_file import PTEFile

_KNOWN_VERSION = 0


def check_versions(file: PTEFile) -> Iterator[Finding]:
    """A version or fields that a newer ExecuTorch introduced."""
    if file.program.version != _KNOWN_VERSION:
        yield warning("version", f"schema version {file.program.version}, pteron knows 0")
    for table, field, offset in file.unknown_fields:
        yield warning(table, f"{field} belongs to a newer schema (at byte {offset})")
