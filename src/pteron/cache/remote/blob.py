"""The files of an entry as one stream of bytes, and back, with its SHA-256 on the way."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator
from pathlib import Path

from pteron.cache.remote.sealed import Description, UntrustedError

_CHUNK = 1 << 20


def chunks(root: Path, files: Iterable[str]) -> Iterator[bytes]:
    """The content of the files, one after the other, in chunks of 1 MiB but for the last."""
    pending = bytearray()
    for path in files:
        with (root / path).open("rb") as file:
            while piece := file.read(_CHUNK - len(pending)):
                pending += piece
                if len(pending) == _CHUNK:
                    yield bytes(pending)
                    pending.clear()
    if pending:
        yield bytes(pending)


def digest(stream: Iterable[bytes]) -> str:
    """SHA-256 of a stream, in hex digits."""
    state = hashlib.sha256()
    for chunk in stream:
        state.update(chunk)
    return state.hexdigest()


def unpack(stream: Iterable[bytes], description: Description, root: Path) -> None:
    """Write the files below ``root``.

    Raises:
        UntrustedError: the stream is not, to the last bit, what was signed; the files must not
            be used then.
    """
    state = hashlib.sha256()
    pending = b""
    source = iter(stream)
    for path, size in description.files:
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        with (root / path).open("xb") as file:
            while size:
                if not pending:
                    pending = next(source, b"")
                    state.update(pending)
                if not pending:
                    raise UntrustedError("its content ends early")
                file.write(pending[:size])
                size, pending = size - len(pending[:size]), pending[size:]
    if pending or next(source, b""):
        raise UntrustedError("its content is longer than what was signed")
    if state.hexdigest() != description.sha256:
        raise UntrustedError("its content is not what was signed")
