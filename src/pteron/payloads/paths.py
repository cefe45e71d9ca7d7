"""Which relative paths a payload may use: none that could leave the directory it is written to."""

from __future__ import annotations

from pteron.errors import FormatError

MAX_DEPTH = 16
MAX_NAME_BYTES = 255
_FORBIDDEN = {"/": "/", "\\": "\\", ":": ": (a drive on Windows)", "\0": "NUL"}


def check_name(name: str, where: str) -> str:
    """One component of a path. Raises FormatError for a name that no file should have."""
    for character, shown in _FORBIDDEN.items():
        if character in name:
            raise FormatError(f"file name {name!r:.80} contains {shown}", where=where)
    if name in ("", ".", ".."):
        raise FormatError(f"file name {name!r} is not a name", where=where)
    if len(name.encode("utf-8")) > MAX_NAME_BYTES:
        raise FormatError(f"file name of over {MAX_NAME_BYTES} bytes", where=where)
    return name


def check_path(path: str, where: str) -> list[str]:
    """The components of a ``/``-separated relative path, each one checked."""
    parts = path.split("/")
    if len(parts) > MAX_DEPTH:
        raise FormatError(f"path of over {MAX_DEPTH} levels", where=where)
    return [check_name(part, where) for part in parts]
