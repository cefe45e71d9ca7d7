"""What the rest of the house needs to know of a delegate's payload."""

from __future__ import annotations

from typing import Protocol


class PayloadSource(Protocol):
    """A payload as a small tree of files, wherever it is stored.

    Keys are ``/``-separated relative paths (``model.mlpackage/Manifest.json``). Nothing is copied:
    blobs are views of the program file, or of a map of a file on disk.
    """

    backend_id: str
    """Backend that made it (``CoreMLBackend``)."""

    function: str | None
    """The function this delegate calls, or ``None`` for the default one."""

    def paths(self) -> list[str]:
        """Every file's path, in stored order."""
        ...

    def read(self, path: str) -> memoryview:
        """A file's bytes, without copying. Raises FormatError when there is no such file."""
        ...

    def digest(self) -> str:
        """Hex digest of the whole content; computed once."""
        ...
