"""A cache of compiled models in a directory of this machine."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path

from pteron.cache import evict, locks, publish, statistics, sweep
from pteron.cache.catalogue import Listed, entries
from pteron.cache.entry import Entry
from pteron.cache.evict import Limits
from pteron.cache.failures import entering, io_errors
from pteron.cache.finder import Finder
from pteron.cache.flight import compile_and_store
from pteron.cache.identifier import check_identifier
from pteron.cache.key import CacheKey
from pteron.cache.opened import OpenedDirectory
from pteron.cache.privately import compile_privately
from pteron.cache.protocol import Compile
from pteron.cache.source import check_details, check_source
from pteron.cache.statistics import Statistics
from pteron.cache.temporary import owned_directory
from pteron.progress import steps

logger = logging.getLogger("pteron.cache")

DEFAULT_MAX_BYTES = 10 << 30
"""Default byte quota: 10 GiB."""


class DirectoryCache:
    """Compiled models in a directory, safe for any number of threads and processes.

    It implements :class:`~pteron.cache.protocol.CompiledModelCache`. The directory is opened on
    first use, not here. :mod:`pteron.cache.layout` describes it.

    Args:
        path: the cache's directory, of its own; made when it is missing.
        max_bytes: quota of all entries together, in bytes; None for no limit.
        max_age: seconds since an entry's last use after which it is evicted; None for no limit.
        read_only: serve hits and store nothing, as for a cache that is part of a system image.
        verify: check every byte of an entry that is found, not names and sizes only.
    """

    def __init__(
        self,
        path: str | Path,
        *,
        max_bytes: int | None = DEFAULT_MAX_BYTES,
        max_age: float | None = None,
        read_only: bool = False,
        verify: bool = False,
    ) -> None:
        self.path = Path(path).expanduser().absolute()
        self.read_only = read_only
        self.limits = Limits(max_bytes, max_age)
        self._always_verify = verify
        self._opened = OpenedDirectory(self.path, read_only=read_only)
        self._finder = Finder(self._opened)

    def __repr__(self) -> str:
        return f"DirectoryCache({str(self.path)!r})"

    def find(self, identifier: str) -> Entry | None:
        """See :meth:`CompiledModelCache.find`."""
        entry = self._find(check_identifier(identifier))
        self._count_lookup(entry)
        return entry

    def store(
        self,
        identifier: str,
        source: Path,
        *,
        key: Mapping[str, object] | None = None,
        compile_seconds: float = 0.0,
    ) -> Entry:
        """See :meth:`CompiledModelCache.store`."""
        check_identifier(identifier)
        check_details(key, compile_seconds)
        layout = self._opened.to_write()
        check_source(source)
        with io_errors(f"store {identifier} in {self.path}"), owned_directory(layout) as work:
            directory = work / "entry"
            directory.mkdir(mode=0o700)
            publish.take_in(layout, source, directory / "model")
            staged = publish.stage(directory, identifier, key or {}, compile_seconds)
            found, evicted = publish.publish(layout, staged, self.limits)
        size = staged.manifest.size
        stored = Statistics(stores=1, bytes_stored=size, evictions=evicted)
        self._opened.count(stored)
        return self._finder.entry(found, hit=False)

    def remove(self, identifier: str) -> bool:
        """See :meth:`CompiledModelCache.remove`."""
        check_identifier(identifier)
        layout = self._opened.to_write()
        with io_errors(f"remove {identifier} from {self.path}"):
            return publish.unpublish(layout, identifier)

    def purge(self) -> None:
        """See :meth:`CompiledModelCache.purge`."""
        layout = self._opened.to_write()
        with io_errors(f"purge {self.path}"):
            sweep.purge(layout)

    def temporary_directory(self) -> AbstractContextManager[Path]:
        """See :meth:`CompiledModelCache.temporary_directory`."""
        directory = owned_directory(self._opened.to_write())
        return entering(directory, f"make a temporary directory in {self.path}")

    def get_or_compile(self, key: CacheKey, compile: Compile) -> Entry:
        """See :meth:`CompiledModelCache.get_or_compile`.

        A cache that is read-only, or on a filesystem that is, stores nothing.
        """
        entry = self._find(key.identifier)
        if entry is None and not self._opened.can_write():
            if not self.read_only:
                logger.warning("%s cannot be written: compiling without storing", self.path)
            entry = compile_privately(key, compile)
        elif entry is None:
            with self._single_flight(key.identifier):
                entry = self._find(key.identifier) or compile_and_store(self, key, compile)
        self._count_lookup(entry)
        return entry

    def entries(self) -> list[Listed]:
        """Every entry, in order of identifiers."""
        layout = self._opened.to_read()
        with io_errors(f"list {self.path}"):
            return sorted(entries(layout), key=lambda listed: listed.identifier)

    def verify(self, identifiers: Iterable[str] | None = None) -> dict[str, str | None]:
        """Compare every byte of all entries, or of some, with the digests, and remove broken ones.

        Returns what is wrong with each, None if it is whole. Identifiers without an entry are
        left out.
        """
        if identifiers is None:
            identifiers = [listed.identifier for listed in self.entries()]
        names = [check_identifier(name) for name in identifiers]
        outcomes = {name: self._finder.verify(name) for name in steps("verify", names)}
        return {name: problem for name, (exists, problem) in outcomes.items() if exists}

    def evict(self, limits: Limits | None = None) -> int:
        """Evict until the limits hold (by default the cache's own); returns how many went."""
        layout = self._opened.to_write()
        with io_errors(f"evict entries of {self.path}"):
            evicted = evict.evict(layout, limits or self.limits)
            sweep.sweep(layout, thoroughly=True)
        self._opened.count(Statistics(evictions=evicted))
        return evicted

    def statistics(self) -> Statistics:
        """Counts over all processes since the directory was made."""
        layout = self._opened.to_read()
        with io_errors(f"read the statistics of {self.path}"):
            return statistics.read(layout)

    def _find(self, identifier: str) -> Entry | None:
        return self._finder.find(identifier, verify=self._always_verify)

    @contextmanager
    def _single_flight(self, identifier: str) -> Iterator[None]:
        lock = locks.exclusive(self._opened.to_write().compiling / identifier)
        with entering(lock, f"lock {identifier} in {self.path}"):
            yield

    def _count_lookup(self, entry: Entry | None) -> None:
        if entry and entry.hit:
            saved = entry.manifest.compile_seconds
            self._opened.count(Statistics(hits=1, compile_seconds_saved=saved))
        else:
            self._opened.count(Statistics(misses=1))
