"""What a fetch from the shared cache leaves in the local one."""

from __future__ import annotations

from pathlib import Path

import pytest

from pteron.cache import DirectoryCache, MemoryCache, TieredCache
from pteron.cache.testing import FILES, KEY, read_files, write_files


def never(directory: Path) -> None:
    raise AssertionError("it is in the shared cache")


@pytest.fixture
def tiered(cache: DirectoryCache, tmp_path: Path) -> TieredCache:
    """The shared cache has the entry, which took an hour."""
    shared = MemoryCache()
    source = write_files(tmp_path / "source")
    shared.store(KEY.identifier, source, key=KEY.parts(), compile_seconds=3600.0).close()
    return TieredCache(cache, shared)


def test_compile_seconds_are_those_of_the_compile(
    tiered: TieredCache, cache: DirectoryCache
) -> None:
    with tiered.get_or_compile(KEY, never) as entry:
        assert entry.hit
        assert read_files(entry.path) == FILES
        assert entry.manifest.compile_seconds == 3600.0
    with cache.find(KEY.identifier) as kept:
        assert kept.manifest.compile_seconds == 3600.0


def test_only_hits_save_seconds(tiered: TieredCache, cache: DirectoryCache) -> None:
    tiered.get_or_compile(KEY, never).close()
    assert cache.statistics().compile_seconds_saved == 0.0
    tiered.get_or_compile(KEY, never).close()
    assert cache.statistics().compile_seconds_saved == 3600.0


def test_private_compile_is_timed_for_others(cache: DirectoryCache, tmp_path: Path) -> None:
    def compile(directory: Path) -> float:
        write_files(directory)
        return 7.0

    cache.find("absent")  # makes it
    baked = TieredCache(DirectoryCache(cache.path, read_only=True), MemoryCache())
    baked.get_or_compile(KEY, compile).close()
    assert baked.flush(10)
    with baked.remote.find(KEY.identifier) as shared:
        assert shared.manifest.compile_seconds == 7.0
