"""The bytes of an open file: a map of it, or a buffer that the caller gave."""

from __future__ import annotations

import mmap
import os
import stat
from contextlib import suppress
from pathlib import Path
from weakref import WeakKeyDictionary, finalize

from pteron.errors import FileAccessError, FormatError, UsageError
from pteron.payloads.coreml.directories import MARKS, is_package

Buffer = bytes | bytearray | memoryview | mmap.mmap

_DESCRIPTORS: WeakKeyDictionary[mmap.mmap, int] = WeakKeyDictionary()


class Source:
    """Bytes to read from, and how to let go of them.

    Attributes:
        name: the path, or ``<buffer>``.
        is_file: whether ``name`` is a path.
    """

    def __init__(self, view: memoryview, name: str, mapped: mmap.mmap | None = None) -> None:
        self.name = name
        self.is_file = mapped is not None
        self._view: memoryview | None = view
        self._mapped = mapped

    @property
    def view(self) -> memoryview:
        """All bytes. Raises :class:`UsageError` once closed."""
        if self._view is None:
            raise UsageError(f"{self.name}: the file is closed")
        return self._view

    def close(self) -> None:
        """Give up the bytes. The map itself goes when the last view that was handed out goes."""
        view, mapped, self._view, self._mapped = self._view, self._mapped, None, None
        if view is not None and mapped is not None:
            view.release()
            with suppress(BufferError):  # views are still in use: they keep the map, and end it
                mapped.close()


def descriptor_of(view: memoryview) -> int | None:
    """The open file that ``view`` maps, or ``None`` if it is not a view of a mapped file."""
    return _DESCRIPTORS.get(view.obj) if isinstance(view.obj, mmap.mmap) else None


def open_source(target: str | os.PathLike[str] | Buffer) -> Source:
    """Map the file at a path, or take any object with the buffer protocol as it is.

    Raises:
        FileAccessError: the path is missing, not a regular file, or cannot be read.
        FormatError: there is not a single byte.
        UsageError: ``target`` is neither.
    """
    if isinstance(target, (str, os.PathLike)):
        if not os.fspath(target):
            raise FileAccessError("the path is empty")
        return _map(Path(target))
    try:
        view = memoryview(target)
    except TypeError:
        raise UsageError(f"expected a path or a buffer, not {type(target).__name__}") from None
    if not view.nbytes:
        raise FormatError("the buffer is empty")
    if not view.c_contiguous:
        raise UsageError("the buffer is not contiguous")
    return Source(view.cast("B").toreadonly(), "<buffer>")


def _map(path: Path) -> Source:
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise FileAccessError(f"{path}: is {_directory(path)}")
        if not stat.S_ISREG(status.st_mode):
            raise FileAccessError(f"{path}: is not a regular file")
        descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_BINARY", 0))
    except FileAccessError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise FileAccessError(f"{path}: {reason}") from None
    return _map_descriptor(descriptor, path)


def _directory(path: Path) -> str:
    if is_package(path):
        return "a Core ML model (load, run, bench, inspect and size take it), not a program file"
    if path.suffix in MARKS:
        return f"no Core ML model: it has no file {MARKS[path.suffix]}"
    return "a directory, not a program file"


def _map_descriptor(descriptor: int, path: Path) -> Source:
    try:
        if not os.fstat(descriptor).st_size:
            raise FormatError(f"{path} is empty")
        mapped = mmap.mmap(descriptor, 0, access=mmap.ACCESS_READ)
    except FormatError:
        os.close(descriptor)
        raise
    except OSError as error:
        os.close(descriptor)
        raise FileAccessError(f"{path}: cannot be mapped: {error.strerror}") from None
    _DESCRIPTORS[mapped] = descriptor
    finalize(mapped, os.close, descriptor)
    return Source(memoryview(mapped), str(path), mapped)
