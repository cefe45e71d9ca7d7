"""The bytes of a file as it would be saved, without a copy where it is open and unmodified."""

from __future__ import annotations

from pteron.files.base import BinaryFile


def saved_view(file: BinaryFile) -> memoryview:
    """All bytes in one view; fields of a newer schema are lost where the file was modified."""
    pieces = list(file.pieces(drop_unknown=True))
    return memoryview(pieces[0] if len(pieces) == 1 else b"".join(pieces))
