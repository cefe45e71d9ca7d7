"""A cache directory that is opened on first use, and opened again if it was deleted meanwhile."""

from __future__ import annotations

import logging
import threading
from contextlib import suppress
from pathlib import Path

from pteron.cache import prepare, statistics, sweep
from pteron.cache.failures import io_errors
from pteron.cache.layout import Layout
from pteron.cache.statistics import Statistics
from pteron.errors import CacheError, CacheErrorCode

logger = logging.getLogger("pteron.cache")


class OpenedDirectory:
    """Hands out the directory's layout once it is known to be a cache that may be used."""

    def __init__(self, path: Path, *, read_only: bool) -> None:
        self.path = path
        self.read_only = read_only
        self._layout = Layout(path.resolve())
        self._prepared = False
        self._preparing = threading.Lock()

    def to_read(self) -> Layout:
        """The layout. Raises INITIALIZATION_FAILED if the directory cannot be used."""
        if not self._prepared:
            with self._preparing:
                if not self._prepared:
                    self._prepare()
        return self._layout

    def to_write(self) -> Layout:
        """The layout. Raises IO_ERROR too, if nothing can be written."""
        if not self.can_write():
            raise CacheError(CacheErrorCode.IO_ERROR, f"the cache in {self.path} is read-only")
        return self._layout

    def can_write(self) -> bool:
        """Whether entries can be stored, once directories that are missing were made again."""
        self.to_read()
        if not self.is_writable and not self.read_only:
            with self._preparing:
                self._prepare()
        return self.is_writable

    @property
    def is_writable(self) -> bool:
        """Whether entries can be stored and removed."""
        return not self.read_only and prepare.is_writable(self._layout)

    def count(self, change: Statistics) -> None:
        """Add to the statistics: a courtesy, so a cache that cannot be written works without."""
        if not self.read_only:
            with suppress(OSError):
                statistics.add(self._layout, change)

    def _prepare(self) -> None:
        is_new = prepare.prepare(self._layout, read_only=self.read_only)
        if not self._layout.locks_work:
            logger.warning(
                "the filesystem of %s has no locks: processes may compile the same model at once, "
                "and the last one's is kept",
                self.path,
            )
        if self.is_writable:
            with io_errors(f"sweep {self.path}"):
                sweep.sweep(self._layout, thoroughly=is_new)
        self._prepared = True
