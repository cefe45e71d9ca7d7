"""A cache of compiled models in this process's memory, for tests and short-lived processes."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from contextlib import AbstractContextManager
from pathlib import Path

from pteron.cache.entry import Entry
from pteron.cache.failures import io_errors
from pteron.cache.flight import SingleFlight
from pteron.cache.identifier import check_identifier
from pteron.cache.key import CacheKey
from pteron.cache.manifest import Manifest, describe
from pteron.cache.privately import PrivateDirectory, private_directory
from pteron.cache.protocol import Compile
from pteron.cache.source import check_details, check_source

_Stored = tuple[Manifest, dict[str, bytes]]


class MemoryCache:
    """Compiled models in memory; each entry found is written to a temporary directory.

    It implements :class:`~pteron.cache.protocol.CompiledModelCache`.
    """

    read_only = False

    def __init__(self) -> None:
        self._stored: dict[str, _Stored] = {}
        self._guard = threading.Lock()
        self._flight = SingleFlight()

    def find(self, identifier: str) -> Entry | None:
        """See :meth:`CompiledModelCache.find`."""
        with self._guard:
            stored = self._stored.get(check_identifier(identifier))
        return self._entry(stored, hit=True) if stored else None

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
        check_source(source)
        with io_errors(f"read {source}"):
            files = describe(source)
            content = {path: (source / path).read_bytes() for path in files}
        manifest = Manifest(identifier, files, key or {}, time.time(), compile_seconds)
        stored = (manifest, content)
        with self._guard:
            self._stored[identifier] = stored
        return self._entry(stored, hit=False)

    def remove(self, identifier: str) -> bool:
        """See :meth:`CompiledModelCache.remove`."""
        with self._guard:
            return self._stored.pop(check_identifier(identifier), None) is not None

    def purge(self) -> None:
        """See :meth:`CompiledModelCache.purge`."""
        with self._guard:
            self._stored.clear()

    def temporary_directory(self) -> AbstractContextManager[Path]:
        """See :meth:`CompiledModelCache.temporary_directory`."""
        return private_directory()

    def get_or_compile(self, key: CacheKey, compile: Compile) -> Entry:
        """See :meth:`CompiledModelCache.get_or_compile`."""
        return self._flight.find_or_compile(self, key, compile)

    def _entry(self, stored: _Stored, *, hit: bool) -> Entry:
        manifest, content = stored

        def condemn(reason: str) -> bool:
            with self._guard:
                if self._stored.get(manifest.identifier) is stored:
                    del self._stored[manifest.identifier]
            return True

        directory = PrivateDirectory()
        with io_errors(f"write {manifest.identifier} to {directory.path}"):
            for path, data in content.items():
                (directory.path / path).parent.mkdir(parents=True, exist_ok=True)
                (directory.path / path).write_bytes(data)
        return Entry(directory.path, manifest, hit=hit, release=directory.release, condemn=condemn)
