"""A full disk costs the cache, not the run."""

from __future__ import annotations

from pathlib import Path

import pytest

from pteron.cache import CacheKey, DirectoryCache, load_through
from pteron.cache.testing import write_files
from pteron.errors import CacheError, CacheErrorCode

KEY = CacheKey("payload", "engine", "1")
BIG = b"x" * (4 << 20)


def compile_big(directory: Path) -> None:
    (directory / "model.bin").write_bytes(BIG)


def test_store_says_that_the_disk_is_full(small_disk: Path, tmp_path: Path) -> None:
    cache = DirectoryCache(small_disk / "cache")
    cache.store("small", write_files(tmp_path / "small", {"a": b"a"})).close()
    source = write_files(tmp_path / "big", {"model.bin": BIG})
    with pytest.raises(CacheError) as raised:
        cache.store("big", source)
    assert raised.value.code is CacheErrorCode.DISK_FULL
    assert cache.find("big") is None
    assert [listed.identifier for listed in cache.entries()] == ["small"]
    assert list((cache.path / "temp").iterdir()) == []
    assert len(list((cache.path / "models").iterdir())) == 1


def test_failed_replacement_keeps_the_old_entry(small_disk: Path, tmp_path: Path) -> None:
    cache = DirectoryCache(small_disk / "cache")
    cache.store("entry", write_files(tmp_path / "old", {"a": b"old"})).close()
    with pytest.raises(CacheError):
        cache.store("entry", write_files(tmp_path / "new", {"a": BIG}))
    with cache.find("entry") as entry:
        assert (entry.path / "a").read_bytes() == b"old"


def test_load_goes_through_a_private_directory(
    small_disk: Path, caplog: pytest.LogCaptureFixture
) -> None:
    cache = DirectoryCache(small_disk / "cache")
    loaded = load_through(cache, KEY, compile_big, lambda path: (path / "model.bin").read_bytes())
    assert loaded.value == BIG
    assert "disk full" in caplog.text
    assert list((cache.path / "temp").iterdir()) == []


def test_engine_that_hides_the_reason_is_understood(small_disk: Path) -> None:
    def compile(directory: Path) -> None:
        try:
            compile_big(directory)
        except OSError:
            raise RuntimeError("cannot write") from None

    cache = DirectoryCache(small_disk / "cache")
    with pytest.raises(CacheError) as raised:
        cache.get_or_compile(KEY, compile)
    assert raised.value.code is CacheErrorCode.DISK_FULL


def test_disk_full_before_the_cache_exists(small_disk: Path) -> None:
    (small_disk / "filler").write_bytes(b"x" * (2 << 20))
    cache = DirectoryCache(small_disk / "cache")
    loaded = load_through(cache, KEY, compile_big, lambda path: (path / "model.bin").read_bytes())
    assert loaded.value == BIG
