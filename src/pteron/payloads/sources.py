"""Payload sources: a tree of files that are views of a program file or of maps of real files."""

from __future__ import annotations

import mmap
import os
from collections.abc import Mapping
from functools import cached_property
from pathlib import Path

from pteron.errors import FileAccessError, FormatError
from pteron.payloads.digest import digest_files


class FilesSource:
    """A :class:`~pteron.payloads.base.PayloadSource` over a mapping from path to bytes.

    Attributes:
        files: path -> bytes (one byte per element), in stored order.
    """

    def __init__(
        self, backend_id: str, files: Mapping[str, memoryview], function: str | None = None
    ) -> None:
        self.backend_id = backend_id
        self.function = function
        self.files = dict(files)

    def paths(self) -> list[str]:
        return list(self.files)

    def read(self, path: str) -> memoryview:
        try:
            return self.files[path]
        except KeyError:
            raise FormatError(f"the payload has no file {path!r}") from None

    def digest(self) -> str:
        return self._digest

    @cached_property
    def _digest(self) -> str:
        return digest_files(self.backend_id, self.files)


def map_directory(directory: Path, prefix: str) -> dict[str, memoryview]:
    """Every file under ``directory``, mapped read-only, keyed by ``prefix/relative/path``.

    Symbolic links to files are followed (download caches are made of them), those to directories
    are not. Raises FileAccessError when it is no directory or a file cannot be read.
    """
    if not directory.is_dir():
        raise FileAccessError(f"{directory} is not a directory")
    found = {}
    for folder, folders, names in os.walk(directory):
        folders.sort()
        for name in sorted(names):
            path = Path(folder, name)
            found[f"{prefix}/{path.relative_to(directory).as_posix()}"] = _map(path)
    return found


def _map(path: Path) -> memoryview:
    try:
        with path.open("rb") as file:
            if os.fstat(file.fileno()).st_size == 0:  # an empty file cannot be mapped
                return memoryview(b"")
            return memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ))
    except OSError as error:
        raise FileAccessError(f"cannot read {path}: {error.strerror}") from error
