"""What the three kinds of file have in common: opened or built, saved, closed."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from importlib import import_module
from types import TracebackType
from typing import TYPE_CHECKING, ClassVar, TypeVar

from pteron.errors import UnsupportedError, UsageError
from pteron.files.saving import write_atomically
from pteron.files.source import Source
from pteron.flatbuf import Buffer, Reader, Table, UnknownField, differ, load_all
from pteron.progress import stage

if TYPE_CHECKING:
    from pteron.report import Report

Self = TypeVar("Self", bound="BinaryFile")


class BinaryFile(ABC):
    """A file in memory, or a view of one on disk.

    A file that was opened is mapped, and decoded only where it is read. Closing it (or leaving a
    ``with`` block) gives up the map, and reading from the file is an error then. Views and tables
    that were handed out before stay valid, and keep the map alive until they go.

    A mapped file must not be changed in place by others: written bytes show through at once, and
    reading past the end of a file that was shortened ends the process (SIGBUS), as with any map.
    Replacing the file by renaming another to its name is safe; :meth:`save` does just that.
    """

    _kept: ClassVar[tuple[str, ...]]
    """Names of cached attributes that hold views of the map."""

    def __init__(
        self, source: Source | None = None, unknown_fields: Sequence[UnknownField] = ()
    ) -> None:
        self._source = source
        self._left_behind = list(unknown_fields)

    @property
    def path(self) -> str | None:
        """Where the file was opened, or ``None``."""
        return self._source.name if self._source and self._source.is_file else None

    @property
    def size(self) -> int | None:
        """Bytes of the file that was opened, or ``None``."""
        return len(self._source.view) if self._source else None

    @property
    def unknown_fields(self) -> list[UnknownField]:
        """Fields of a newer schema that reading passed over; decodes the whole file.

        A file that was built in memory has those of the files that it was made from.
        """
        if self._source is None:
            return self._left_behind
        reader, root = self._pristine()
        load_all(root)
        return list(reader.unknown.values())

    def save(self, path: str | os.PathLike[str], *, drop_unknown: bool = False) -> None:
        """Write the file to ``path``, which may be the file that is open, all or nothing.

        A file that was opened and not modified is copied as it is, byte for byte.

        Raises:
            FileAccessError: it cannot be written.
            UnsupportedError: it must be rewritten, which would lose fields of a newer schema;
                ``drop_unknown`` drops them.
            UsageError: the objects cannot be written.
        """
        with stage(f"write {os.fspath(path)}"):
            write_atomically(path, self.pieces(drop_unknown=drop_unknown))

    def to_bytes(self, *, drop_unknown: bool = False) -> bytes:
        """The bytes that :meth:`save` would write."""
        return b"".join(self.pieces(drop_unknown=drop_unknown))

    def pieces(self, *, drop_unknown: bool = False) -> Iterable[Buffer]:
        """The bytes that :meth:`save` would write, in pieces; large blobs are not copied."""
        if not self._modified():
            return [self._view()]
        if not drop_unknown and (unknown := self._would_lose()):
            names = ", ".join(f"{table}.{field}" for table, field, _ in unknown)
            raise UnsupportedError(
                f"rewriting would lose fields of a newer schema ({names}); drop_unknown drops them"
            )
        return self._encode()

    def report(
        self, other: BinaryFile | None = None, *, profile: str | os.PathLike[str] | None = None
    ) -> Report:
        """A page that shows what is in the file, or what became of it in another one.

        See :func:`pteron.report.report`; ``.save("report.html")`` writes the page, and in a
        notebook it shows itself.
        """
        # The report's room uses this one; it is reached when asked for, not imported.
        page: Report = import_module("pteron.report").report(self, other, profile=profile)
        return page

    def _repr_html_(self) -> str:
        """The report, for a notebook."""
        return self.report()._repr_html_()

    def close(self) -> None:
        """Give up the map of the file; what was built in memory stays usable."""
        if self._source:
            for name in self._kept:
                self.__dict__.pop(name, None)
            self._source.close()

    def __enter__(self: Self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def _view(self) -> memoryview:
        if self._source is None:
            raise UsageError("this file was built in memory, not opened")
        return self._source.view

    def _modified(self) -> bool:
        """Whether the objects differ from the file that was opened, if any was."""
        if self._source is None or self._blobs_modified():
            return True
        decoded = self._decoded()
        return decoded is not None and differ(decoded, self._pristine()[1])

    def _would_lose(self) -> list[UnknownField]:
        """Fields of a newer schema that rewriting leaves out."""
        return self.unknown_fields

    @abstractmethod
    def _decoded(self) -> Table | None:
        """The root table, or ``None`` if nobody has read it."""

    @abstractmethod
    def _blobs_modified(self) -> bool:
        """Whether blobs outside the root table were replaced."""

    @abstractmethod
    def _pristine(self) -> tuple[Reader, Table]:
        """The root table decoded from the file anew, and its reader."""

    @abstractmethod
    def _encode(self) -> Iterable[Buffer]:
        """The bytes of the objects as they are now."""
