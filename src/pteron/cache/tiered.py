"""A cache of this machine before one that is shared by many."""

from __future__ import annotations

import logging
import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from pteron.cache.background import Background
from pteron.cache.entry import Entry
from pteron.cache.failures import io_errors
from pteron.cache.identifier import check_identifier
from pteron.cache.key import CacheKey
from pteron.cache.manifest import damage
from pteron.cache.privately import private_directory
from pteron.cache.protocol import Compile, CompiledModelCache
from pteron.cache.tree import copy_files
from pteron.errors import CacheError

logger = logging.getLogger("pteron.cache")

_PAUSE_AFTER_FAILURE = 60.0


class TieredCache:
    """Reads through a remote cache into a local one, and stores to it in the background.

    It implements :class:`~pteron.cache.protocol.CompiledModelCache`. The remote cache never fails
    a run: when it cannot be reached that is reported, and it is left alone for a minute.

    Args:
        local: asked first; its single flight covers downloads too.
        remote: asked when the local one misses; nothing is stored there if it is read-only.
        patience: seconds that unfinished uploads may delay the end of the process.
    """

    def __init__(
        self, local: CompiledModelCache, remote: CompiledModelCache, *, patience: float = 30.0
    ) -> None:
        self.local = local
        self.remote = remote
        self._background = Background(patience)
        self._resume = 0.0
        self._distrusted: dict[str, object] = {}  # identifier -> which time it was condemned
        self._guard = threading.Lock()

    @property
    def read_only(self) -> bool:
        """See :attr:`CompiledModelCache.read_only`."""
        return self.local.read_only

    def find(self, identifier: str) -> Entry | None:
        """See :meth:`CompiledModelCache.find`."""
        entry = self.local.find(check_identifier(identifier))
        if entry is None:
            entry = self._fetch(identifier)
            if entry and not self.local.read_only:
                with entry:
                    entry = self._store_locally(entry)
        return self._guarded(entry, hit=True) if entry else None

    def store(
        self,
        identifier: str,
        source: Path,
        *,
        key: Mapping[str, object] | None = None,
        compile_seconds: float = 0.0,
    ) -> Entry:
        """See :meth:`CompiledModelCache.store`. The remote cache gets it in the background."""
        entry = self.local.store(identifier, source, key=key, compile_seconds=compile_seconds)
        self._upload(entry)
        return self._guarded(entry, hit=False)

    def remove(self, identifier: str) -> bool:
        """See :meth:`CompiledModelCache.remove`. It goes from a remote cache if that is allowed."""
        removed = self.local.remove(identifier)
        self.flush()
        if self.remote.read_only:
            self._distrust(identifier)
            return removed
        return self.remote.remove(identifier) or removed

    def purge(self) -> None:
        """See :meth:`CompiledModelCache.purge`. The remote cache too, unless it is read-only."""
        self.local.purge()
        self.flush()
        if not self.remote.read_only:
            self.remote.purge()

    def temporary_directory(self) -> AbstractContextManager[Path]:
        """See :meth:`CompiledModelCache.temporary_directory`."""
        return self.local.temporary_directory()

    def get_or_compile(self, key: CacheKey, compile: Compile) -> Entry:
        """See :meth:`CompiledModelCache.get_or_compile`."""
        identifier = key.identifier
        fetched = False

        def obtain(directory: Path) -> float | None:
            nonlocal fetched
            entry = self._fetch(identifier)
            if entry is None:
                return compile(directory)
            with entry:
                copy_files(entry.path, directory)
            fetched = True
            return entry.manifest.compile_seconds

        entry = self.local.get_or_compile(key, obtain)
        if not entry.hit and not fetched:
            self._upload(entry)
        return self._guarded(entry, hit=entry.hit or fetched)

    def flush(self, timeout: float | None = None) -> bool:
        """Wait for uploads; whether all were done (or given up) in time."""
        return self._background.flush(timeout)

    def _guarded(self, entry: Entry, *, hit: bool) -> Entry:
        """The entry, but condemning it means the remote one too: it is not fetched again."""

        def condemn(reason: str) -> bool:
            self._distrust(entry.identifier)
            return local(reason)

        local = entry.condemn
        guarded = entry.again(hit=hit, condemn=condemn)
        entry.close()
        return guarded

    def _fetch(self, identifier: str) -> Entry | None:
        if identifier in self._distrusted or self._is_paused():
            return None
        try:
            return self.remote.find(identifier)
        except CacheError as error:
            self._pause(error)
            return None

    def _store_locally(self, entry: Entry) -> Entry:
        manifest = entry.manifest
        try:
            return self.local.store(
                manifest.identifier,
                entry.path,
                key=manifest.key,
                compile_seconds=manifest.compile_seconds,
            )
        except CacheError as error:
            logger.warning("a shared compiled model is used without keeping it: %s", error)
            return entry.again(hit=True)

    def _upload(self, entry: Entry) -> None:
        if not self.remote.read_only:
            held = entry.again(hit=entry.hit)
            condemned = self._distrusted.get(entry.identifier)
            self._background.submit(lambda: self._send(held, condemned))

    def _send(self, entry: Entry, condemned: object) -> None:
        """Store an entry remotely; then it is trusted again, unless condemned in the meantime."""
        manifest = entry.manifest
        with entry:
            if self._is_paused():
                return
            try:
                with private_directory() as copy:
                    if not _copy_whole(entry, copy):
                        return
                    self.remote.store(
                        manifest.identifier,
                        copy,
                        key=manifest.key,
                        compile_seconds=manifest.compile_seconds,
                    ).close()
            except CacheError as error:
                self._pause(error)
                return
        with self._guard:
            if self._distrusted.get(manifest.identifier) is condemned:
                self._distrusted.pop(manifest.identifier, None)

    def _distrust(self, identifier: str) -> None:
        with self._guard:
            self._distrusted[identifier] = object()

    def _is_paused(self) -> bool:
        return time.monotonic() < self._resume

    def _pause(self, error: CacheError) -> None:
        self._resume = time.monotonic() + _PAUSE_AFTER_FAILURE
        logger.warning("the shared cache is left alone for a minute: %s", error)


def _copy_whole(entry: Entry, directory: Path) -> bool:
    """Copy an entry; whether every byte is what was stored. What is checked is what is sent."""
    with io_errors(f"copy {entry.path} to {directory}"):
        copy_files(entry.path, directory)
    wrong = damage(entry.manifest, directory)
    if wrong:
        logger.warning("a compiled model is not shared, it is broken here: %s", wrong)
    return wrong is None
