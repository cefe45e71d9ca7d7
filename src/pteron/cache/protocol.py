"""What a cache of compiled models promises."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Protocol, runtime_checkable

from pteron.cache.entry import Entry
from pteron.cache.key import CacheKey

Compile = Callable[[Path], float | None]
"""Leaves a compiled model, as files, in an existing empty directory.

It may return how long the compile took, in seconds, if its own duration does not tell: when it
fetched what was compiled elsewhere.
"""


@runtime_checkable
class CompiledModelCache(Protocol):
    """Keeps compiled models, so that each is compiled once.

    Every operation may be called from any thread. Each that takes an identifier raises
    :class:`~pteron.errors.CacheError` with code INVALID_IDENTIFIER for one that is not 1 to 128
    ASCII letters, digits, ``-`` and ``_``, the first a letter or digit; each may raise the
    codes INITIALIZATION_FAILED, DISK_FULL and IO_ERROR.
    :class:`pteron.cache.testing.CacheContract` tests all of this.
    """

    @property
    def read_only(self) -> bool:
        """Whether :meth:`get_or_compile` compiles without storing, and other changes fail."""
        ...

    def find(self, identifier: str) -> Entry | None:
        """The entry of this identifier, held until it is closed; None if there is none.

        What is found is whole: a broken entry is removed, and is None.
        """
        ...

    def store(
        self,
        identifier: str,
        source: Path,
        *,
        key: Mapping[str, object] | None = None,
        compile_seconds: float = 0.0,
    ) -> Entry:
        """Take a directory of compiled files into the cache, replacing an entry there may be.

        At every moment, and after a crash at any moment, either the old entry or the new one can
        be found, whole. A source that lies in a :meth:`temporary_directory` may be moved; any
        other is left as it is. ``key`` and ``compile_seconds`` go to the manifest.

        Raises:
            CacheError: SOURCE_NOT_FOUND unless the source is a directory with regular files (and
                directories of them) only, at least one; a symbolic link is none.
            UsageError: ``key`` cannot be written as JSON, or ``compile_seconds`` is no duration.
        """
        ...

    def remove(self, identifier: str) -> bool:
        """Remove an entry; False if there was none. Whoever holds it keeps its files till then."""
        ...

    def purge(self) -> None:
        """Remove every entry, and whatever dead processes left."""
        ...

    def temporary_directory(self) -> AbstractContextManager[Path]:
        """A new empty directory where storing costs no copy; gone at the end of the block."""
        ...

    def get_or_compile(self, key: CacheKey, compile: Compile) -> Entry:
        """Find the entry of a key, or compile and store it.

        Of many callers at once, one compiles and the others get its result. What ``compile``
        raises passes through, save that a full disk is a CacheError with code DISK_FULL.
        """
        ...
