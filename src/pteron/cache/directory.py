"""A cache of compiled models in a directory of this machine."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from pathlib import Path

from pteron.cache import locks, prepare, publish, reader, statistics, sweep
from pteron.cache.catalogue import Listed, entries
from pteron.cache.entry import Entry
from pteron.cache.evict import Limits
from pteron.cache.failures import entering, full_disk, io_errors
from pteron.cache.identifier import check_identifier
from pteron.cache.key import CacheKey
from pteron.cache.layout import Layout
from pteron.cache.privately import compile_privately
from pteron.cache.protocol import Compile
from pteron.cache.statistics import Statistics
from pteron.cache.temporary import owned_directory
from pteron.errors import CacheError, CacheErrorCode

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
        self.limits = Limits(max_bytes, max_age)
        self.read_only = read_only
        self.verify = verify
        self._layout = Layout(self.path)
        self._prepared = False
        self._preparing = threading.Lock()

    def __repr__(self) -> str:
        return f"DirectoryCache({str(self.path)!r})"

    def find(self, identifier: str) -> Entry | None:
        """See :meth:`CompiledModelCache.find`."""
        check_identifier(identifier)
        entry = self._look_up(identifier)
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
        layout = self._open_to_write()
        publish.check_source(source)
        with io_errors(f"store {identifier} in {self.path}"), owned_directory(layout) as work:
            staged = work / "entry"
            staged.mkdir(mode=0o700)
            publish.take_in(layout, source, staged / "model")
            manifest = publish.stage(staged, identifier, key or {}, compile_seconds)
            found, evicted = publish.publish(layout, staged, manifest, self.limits)
            change = Statistics(stores=1, bytes_stored=manifest.size, evictions=evicted)
            self._count(change)
            return self._entry(found, hit=False)

    def remove(self, identifier: str) -> bool:
        """See :meth:`CompiledModelCache.remove`."""
        check_identifier(identifier)
        layout = self._open_to_write()
        with io_errors(f"remove {identifier} from {self.path}"):
            return publish.unpublish(layout, identifier)

    def purge(self) -> None:
        """See :meth:`CompiledModelCache.purge`."""
        layout = self._open_to_write()
        with io_errors(f"purge {self.path}"):
            sweep.purge(layout)

    def temporary_directory(self) -> AbstractContextManager[Path]:
        """See :meth:`CompiledModelCache.temporary_directory`."""
        directory = owned_directory(self._open_to_write())
        return entering(directory, f"make a temporary directory in {self.path}")

    def get_or_compile(self, key: CacheKey, compile: Compile) -> Entry:
        """See :meth:`CompiledModelCache.get_or_compile`. A read-only cache stores nothing."""
        entry = self._look_up(key.identifier)
        if entry is None:
            if self.read_only:
                entry = compile_privately(key, compile)
            else:
                with self._single_flight(key.identifier):
                    entry = self._look_up(key.identifier) or self._compile(key, compile)
        self._count_lookup(entry)
        return entry

    def entries(self) -> list[Listed]:
        """Every entry, in order of identifiers."""
        layout = self._open()
        with io_errors(f"list {self.path}"):
            return sorted(entries(layout), key=lambda listed: listed.identifier)

    def statistics(self) -> Statistics:
        """Counts over all processes since the directory was made."""
        layout = self._open()
        with io_errors(f"read the statistics of {self.path}"):
            return statistics.read(layout)

    def _open(self) -> Layout:
        with self._preparing:
            if not self._prepared:
                prepare.prepare(self._layout, read_only=self.read_only)
                if not self._layout.locks_work:
                    logger.warning(
                        "the filesystem of %s has no locks: processes may compile the same model "
                        "at once, and the last one's is kept",
                        self.path,
                    )
                if not self.read_only and prepare.is_writable(self._layout):
                    with io_errors(f"sweep {self.path}"):
                        sweep.sweep_temporary(self._layout)
                self._prepared = True
        return self._layout

    def _open_to_write(self) -> Layout:
        layout = self._open()
        if self.read_only or not prepare.is_writable(layout):
            raise CacheError(CacheErrorCode.IO_ERROR, f"the cache in {self.path} is read-only")
        return layout

    def _look_up(self, identifier: str) -> Entry | None:
        layout = self._open()
        with io_errors(f"look up {identifier} in {self.path}"):
            try:
                found = reader.lookup(layout, identifier)
            except CacheError as error:
                if error.code is not CacheErrorCode.CORRUPTED_ENTRY:
                    raise
                self._recover(identifier, str(error))
                return None
            entry = self._entry(found, hit=True) if found else None
        problem = entry.damage() if entry and self.verify else None
        if entry and problem:
            entry.close()
            entry.condemn(problem)
            return None
        return entry

    def _entry(self, found: reader.Found, *, hit: bool) -> Entry:
        def condemn(reason: str) -> bool:
            return self._recover(found.manifest.identifier, reason, found.generation)

        path = self._layout.generation(found.generation) / "model"
        return Entry(path, found.manifest, hit=hit, release=found.close, condemn=condemn)

    def _recover(self, identifier: str, reason: str, generation: str | None = None) -> bool:
        """Remove a broken entry, so that it is compiled anew; False if that is not allowed."""
        logger.warning("the compiled model %s in %s is broken (%s)", identifier, self.path, reason)
        if self.read_only or not prepare.is_writable(self._layout):
            return False
        with io_errors(f"remove {identifier} from {self.path}"):
            removed = publish.unpublish(self._layout, identifier, only=generation)
        self._count(Statistics(recoveries=int(removed)))
        return True

    @contextmanager
    def _single_flight(self, identifier: str) -> Iterator[None]:
        lock = locks.exclusive(self._open_to_write().compiling / identifier)
        with entering(lock, f"lock {identifier} in {self.path}"):
            yield

    def _compile(self, key: CacheKey, compile: Compile) -> Entry:
        with self.temporary_directory() as work:
            model = work / "model"
            model.mkdir(mode=0o700)
            started = time.monotonic()
            with full_disk(work):
                compile(model)
            seconds = time.monotonic() - started
            return self.store(key.identifier, model, key=key.parts(), compile_seconds=seconds)

    def _count_lookup(self, entry: Entry | None) -> None:
        if entry and entry.hit:
            saved = entry.manifest.compile_seconds
            self._count(Statistics(hits=1, compile_seconds_saved=saved))
        else:
            self._count(Statistics(misses=1))

    def _count(self, change: Statistics) -> None:
        """Counting is a courtesy: a cache that cannot be written, or is full, works without."""
        if not self.read_only:
            with suppress(OSError):
                statistics.add(self._layout, change)
