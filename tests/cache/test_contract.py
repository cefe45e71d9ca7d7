"""Our caches keep the contract that every cache must keep."""

from __future__ import annotations

from pathlib import Path

import pytest

from pteron.cache import DirectoryCache, MemoryCache
from pteron.cache.testing import CacheContract


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
