"""One compile per key: what every cache's ``get_or_compile`` is made of."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pteron.cache.entry import Entry
from pteron.cache.failures import full_disk
from pteron.cache.key import CacheKey
from pteron.cache.protocol import Compile, CompiledModelCache


class SingleFlight:
    """Lets one thread of this process at a time work on an identifier."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._flights: dict[str, tuple[threading.Lock, int]] = {}

    @contextmanager
    def __call__(self, identifier: str) -> Iterator[None]:
        """Wait until no other thread works on the identifier, and work on it in the block."""
        with self._guard:
            lock, users = self._flights.get(identifier, (threading.Lock(), 0))
            self._flights[identifier] = (lock, users + 1)
        try:
            with lock:
                yield
        finally:
            with self._guard:
                lock, users = self._flights.pop(identifier)
                if users > 1:
                    self._flights[identifier] = (lock, users - 1)

    def find_or_compile(self, cache: CompiledModelCache, key: CacheKey, compile: Compile) -> Entry:
        """``get_or_compile`` for a cache whose processes cannot wait for each other."""
        entry = cache.find(key.identifier)
        if entry is None:
            with self(key.identifier):
                entry = cache.find(key.identifier) or compile_and_store(cache, key, compile)
        return entry


def compile_into(directory: Path, compile: Compile) -> float:
    """Compile into an empty directory; returns how many seconds the compile took."""
    started = time.monotonic()
    with full_disk(directory):
        seconds = compile(directory)
    return seconds if isinstance(seconds, float) else time.monotonic() - started


def compile_and_store(cache: CompiledModelCache, key: CacheKey, compile: Compile) -> Entry:
    """Compile in the cache's temporary directory, and store the product."""
    with cache.temporary_directory() as work:
        model = work / "model"
        model.mkdir(mode=0o700)
        seconds = compile_into(model, compile)
        return cache.store(key.identifier, model, key=key.parts(), compile_seconds=seconds)
