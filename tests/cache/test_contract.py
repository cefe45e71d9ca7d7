"""Our caches keep the contract that every cache must keep."""

from __future__ import annotations

from pathlib import Path

import pytest
from obstore.store import LocalStore, MemoryStore

from pteron.cache import DirectoryCache, MemoryCache, TieredCache
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
