"""Our caches keep the contract that every cache must keep."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import Any

import pytest
from obstore.store import LocalStore, MemoryStore

from pteron.cache import DirectoryCache, Entry, MemoryCache, TieredCache
from pteron.cache.remote import Ed25519Key, ObjectStoreCache, SharedSecret
from pteron.cache.testing import CacheContract, write_files

SECRET = SharedSecret(bytes(32))


class TestDirectoryCache(CacheContract):
    @pytest.fixture
    def cache(self, tmp_path: Path) -> DirectoryCache:
        return DirectoryCache(tmp_path / "cache")


class TestVerifyingDirectoryCache(CacheContract):
    @pytest.fixture
    def cache(self, tmp_path: Path) -> DirectoryCache:
        return DirectoryCache(tmp_path / "cache", verify=True)


class TestMemoryCache(CacheContract):
    @pytest.fixture
    def cache(self) -> MemoryCache:
        return MemoryCache()


class TestObjectStoreCacheInMemory(CacheContract):
    @pytest.fixture
    def cache(self) -> ObjectStoreCache:
        return ObjectStoreCache(MemoryStore(), Ed25519Key.generate())


class TestObjectStoreCacheInADirectory(CacheContract):
    """A local store knows no conditional replacement."""

    @pytest.fixture
    def cache(self, tmp_path: Path) -> ObjectStoreCache:
        return ObjectStoreCache(LocalStore(tmp_path / "store", mkdir=True), SECRET)


class TestTieredCache(CacheContract):
    @pytest.fixture
    def cache(self, tmp_path: Path) -> TieredCache:
        remote = ObjectStoreCache(MemoryStore(), SECRET)
        return TieredCache(DirectoryCache(tmp_path / "cache"), remote)


class TestTieredCacheThatMayNotUpload(CacheContract):
    @pytest.fixture
    def cache(self, tmp_path: Path) -> TieredCache:
        reader = ObjectStoreCache(MemoryStore(), Ed25519Key.generate().public())
        return TieredCache(DirectoryCache(tmp_path / "cache"), reader)


def test_an_upload_that_ends_late_does_not_bring_a_condemned_entry_back(tmp_path: Path) -> None:
    cache = TieredCache(DirectoryCache(tmp_path / "cache"), ObjectStoreCache(MemoryStore(), SECRET))
    entry = cache.store("entry", write_files(tmp_path / "source"))
    entry.close()
    assert entry.condemn("it is a test")
    assert cache.flush(10)
    assert cache.find("entry") is None
    cache.store("entry", write_files(tmp_path / "again")).close()
    assert cache.flush(10)
    cache.local.remove("entry")
    found = cache.find("entry")
    assert found is not None
    found.close()


class BusyCache(ObjectStoreCache):
    """It stores nothing before it may."""

    def __init__(self) -> None:
        super().__init__(MemoryStore(), SECRET)
        self.ready = threading.Event()

    def store(self, identifier: str, source: Path, **details: Any) -> Entry:
        assert self.ready.wait(10)
        return super().store(identifier, source, **details)


def test_what_broke_before_its_upload_is_not_shared(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    remote = BusyCache()
    cache = TieredCache(DirectoryCache(tmp_path / "cache"), remote)
    source = write_files(tmp_path / "source")
    cache.store("first", source).close()
    with cache.store("entry", source) as entry:
        model = entry.path / "model.xml"
        model.write_bytes(bytes(model.stat().st_size))
    remote.ready.set()
    assert cache.flush(10)
    assert "'model.xml' is not what was stored" in caplog.text
    assert remote.find("entry") is None
    found = remote.find("first")
    assert found is not None
    found.close()
