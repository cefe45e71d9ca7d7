"""Writing files: all or nothing, and with the kernel's copy where bytes are those of a map."""

from __future__ import annotations

import errno
import os
import secrets
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from pteron.errors import FileAccessError
from pteron.files.positions import offset_in
from pteron.files.source import descriptor_of
from pteron.flatbuf import Buffer

_LARGE = 1 << 16
"""Bytes from which a piece is written by itself, and copied by the kernel if it can."""


def write_atomically(path: str | os.PathLike[str], pieces: Iterable[Buffer]) -> None:
    """Write ``pieces`` to ``path`` so that at every moment it is the old file or the new one.

    The bytes go to a new file in the same directory, and then to their name; a map of the old file
    goes on showing the old bytes. Where there is an old file to lose, the new bytes are on the disk
    before they take its name, so that not even a power cut loses both; that is what takes longer
    than ``cp``. A pipe or a device (``/dev/stdout``) has nothing to lose: the bytes go through it,
    and it stays. Raises :class:`FileAccessError`.
    """
    target = Path(os.path.realpath(path))
    try:
        if _is_channel(path):
            _write_through(path, pieces)
            return
    except OSError as error:
        raise FileAccessError(f"{os.fspath(path)}: cannot be written: {error.strerror}") from None
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        _write(temporary, target, pieces)
    except OSError as error:
        raise FileAccessError(f"{target}: cannot be written: {error.strerror}") from None
    finally:
        with suppress(OSError):  # it is gone when all went well
            temporary.unlink()


def _is_channel(path: str | os.PathLike[str]) -> bool:
    """Whether bytes go through ``path`` to somewhere else. The links in ``/proc`` that
    ``/dev/stdout`` ends in are followed by the system alone, so its own path is asked.
    """
    try:
        mode = Path(path).stat().st_mode
    except FileNotFoundError:
        return False
    if stat.S_ISREG(mode):
        return False
    if stat.S_ISFIFO(mode) or stat.S_ISCHR(mode):
        return True
    if stat.S_ISDIR(mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR))
    raise OSError(errno.EINVAL, "it is neither a file, a pipe nor a character device")


def _write_through(path: str | os.PathLike[str], pieces: Iterable[Buffer]) -> None:
    descriptor = os.open(path, os.O_WRONLY)
    try:
        for piece in _gathered(pieces):
            while piece:
                piece = piece[os.write(descriptor, piece) :]
    finally:
        os.close(descriptor)


def _write(temporary: Path, target: Path, pieces: Iterable[Buffer]) -> None:
    descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o666)
    try:
        for piece in _gathered(pieces):
            _write_piece(descriptor, piece)
        if target.exists():
            os.fchmod(descriptor, target.stat().st_mode & 0o7777)
            os.fsync(descriptor)
    finally:
        os.close(descriptor)
    temporary.replace(target)


def _gathered(pieces: Iterable[Buffer]) -> Iterator[memoryview]:
    """Small pieces joined, so that a table does not cost a system call; large ones as they are."""
    small = bytearray()
    for piece in pieces:
        if len(piece) < _LARGE:
            small += piece
        else:
            yield memoryview(bytes(small))
            yield memoryview(piece)
            small.clear()
    yield memoryview(bytes(small))


def _write_piece(descriptor: int, piece: memoryview) -> None:
    if len(piece) >= _LARGE:
        piece = piece[_copy_in_kernel(descriptor, piece) :]
    while piece:
        piece = piece[os.write(descriptor, piece) :]


def _copy_in_kernel(descriptor: int, piece: memoryview) -> int:
    """Copy what the kernel agrees to copy from the mapped file; returns the number of bytes."""
    source = descriptor_of(piece)
    start = offset_in(piece, memoryview(piece.obj))
    if source is None or start is None or not hasattr(os, "copy_file_range"):
        return 0
    done = 0
    with suppress(OSError):  # another file system, or one that cannot: the rest is written
        while done < len(piece):
            copied = os.copy_file_range(source, descriptor, len(piece) - done, start + done)
            if not copied:
                break
            done += copied
    return done
