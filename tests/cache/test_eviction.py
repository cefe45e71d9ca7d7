"""Which entries go, and which never do."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from pteron.cache import DirectoryCache, evict
from pteron.cache.evict import Limits

Put = Callable[..., None]


def names(cache: DirectoryCache) -> list[str]:
    return [listed.identifier for listed in cache.entries()]


def age(cache: DirectoryCache, name: str, seconds: float) -> None:
    """Make an entry look as if its last use was that long ago."""
    listed = next(listed for listed in cache.entries() if listed.identifier == name)
    path = cache.path / "models" / listed.generation / "manifest.json"
    used = time.time() - seconds
    os.utime(path, (used, used))


@pytest.fixture
def small(tmp_path: Path) -> DirectoryCache:
    return DirectoryCache(tmp_path / "cache", max_bytes=300)


def test_least_recently_used_goes_first(small: DirectoryCache, put: Put) -> None:
    for name in ("a", "b", "c"):
        put(small, name)
    small.find("a").close()
    put(small, "d")
    assert names(small) == ["a", "c", "d"]
    small.find("c").close()
    put(small, "e")
    assert names(small) == ["c", "d", "e"]
    assert small.statistics().evictions == 2


def test_nothing_goes_while_there_is_room(small: DirectoryCache, put: Put) -> None:
    for name in ("a", "b", "c"):
        put(small, name)
    for name in ("a", "b", "c"):
        put(small, name)  # replacing needs no room
    assert names(small) == ["a", "b", "c"]


def test_held_entry_is_never_evicted(small: DirectoryCache, put: Put) -> None:
    put(small, "held")
    with small.find("held") as entry:
        for name in "abcdef":
            put(DirectoryCache(small.path, max_bytes=300), name)
        assert "held" in names(small)
        assert (entry.path / "model.bin").exists()
        assert small.evict(Limits(max_bytes=0)) == 2
    assert names(small) == ["held"]
    assert small.evict(Limits(max_bytes=0)) == 1


def test_entry_larger_than_the_quota_is_kept_alone(small: DirectoryCache, put: Put) -> None:
    put(small, "a")
    put(small, "large", 1000)
    assert names(small) == ["large"]
    put(small, "b")
    assert names(small) == ["b"]


def test_old_entries_go(cache: DirectoryCache, put: Put) -> None:
    for name in ("old", "young"):
        put(cache, name)
    age(cache, "old", 7200)
    assert cache.evict(Limits(max_age=3600)) == 1
    assert names(cache) == ["young"]


def test_age_is_enforced_by_stores(tmp_path: Path, put: Put) -> None:
    cache = DirectoryCache(tmp_path / "cache", max_age=3600)
    put(cache, "old")
    age(cache, "old", 7200)
    (cache.path / "usage.json").unlink()  # as if the last scan was long ago
    put(cache, "new")
    assert names(cache) == ["new"]


def test_clock_that_goes_back_does_not_turn_the_order(small: DirectoryCache, put: Put) -> None:
    for name in ("a", "b", "c"):
        put(small, name)
    age(small, "a", -86_300)  # used before the clock was set back by a day
    age(small, "b", -86_400)
    (small.path / "usage.json").unlink()
    put(small, "d")
    assert names(small) == ["b", "c", "d"]
    assert small.evict(Limits(max_age=60)) == 0  # what was used in the future is not old
    assert small.find("b") is not None


def test_quota_holds_under_concurrent_stores(tmp_path: Path, put: Put) -> None:
    quota = 1000

    def work(worker: int) -> None:
        cache = DirectoryCache(tmp_path / "cache", max_bytes=quota)
        for number in range(12):
            put(cache, f"entry-{worker}-{number}")
            listed = cache.entries()
            assert sum(x.manifest.size for x in listed if x.manifest) <= quota + 100

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(work, range(4)))


def test_stores_do_not_scan_each_time(
    tmp_path: Path, put: Put, monkeypatch: pytest.MonkeyPatch
) -> None:
    scans = []
    scan = evict.scan
    monkeypatch.setattr(evict, "scan", lambda layout: scans.append(1) or scan(layout))
    cache = DirectoryCache(tmp_path / "cache", max_bytes=3000)
    for number in range(60):
        put(cache, f"entry-{number}")
    assert len(names(cache)) == 30
    assert len(scans) <= 3


@pytest.mark.parametrize("content", ["", "{", "[]", '{"bytes": "x", "scanned": 0, "oldest": []}'])
def test_damaged_usage_is_counted_anew(small: DirectoryCache, put: Put, content: str) -> None:
    for name in ("a", "b", "c"):
        put(small, name)
    (small.path / "usage.json").write_text(content)
    put(small, "d")
    assert names(small) == ["b", "c", "d"]
