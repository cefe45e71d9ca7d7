"""The tests that every cache of compiled models must pass, yours as well.

Derive a class and provide the cache to test (this module needs pytest)::

    class TestMyCache(CacheContract):
        @pytest.fixture
        def cache(self, tmp_path):
            return MyCache(tmp_path)
"""

from __future__ import annotations

import errno
import os
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from pteron.cache.key import CacheKey
from pteron.cache.protocol import CompiledModelCache
from pteron.errors import CacheError, CacheErrorCode, UsageError

KEY = CacheKey("0123456789abcdef", "engine", "1.0", {"cpu": "avx2"}, {"precision": "model"})
FILES = {"model.xml": b"<net/>", "weights/model.bin": bytes(range(256)) * 64, "empty": b""}
OTHER_FILES = {"model.xml": b"<net>other</net>", "extra.bin": b"more"}

BAD_IDENTIFIERS = [
    "",
    ".",
    "..",
    "../outside",
    "a/b",
    "a\\b",
    "/etc",
    "a\0b",
    "a b",
    "a.b",
    "-a",
    "_a",
    "ä",
    "x" * 129,
    "line\n",
]


GOOD_IDENTIFIERS = ["a", "7", "Upper_Case-And_digits-0", "a_", "a--", "x" * 128]

BAD_DETAILS: list[dict[str, Any]] = [
    {"compile_seconds": float("nan")},
    {"compile_seconds": float("inf")},
    {"compile_seconds": -1.0},
    {"key": {"payload": object()}},
]


def write_files(directory: Path, files: dict[str, bytes] = FILES) -> Path:
    """Make a directory hold these files."""
    for path, content in files.items():
        (directory / path).parent.mkdir(parents=True, exist_ok=True)
        (directory / path).write_bytes(content)
    return directory


def read_files(directory: Path) -> dict[str, bytes]:
    """Every file of a directory, by relative path."""
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


class CacheContract:
    """Contract of :class:`~pteron.cache.CompiledModelCache`, one test per promise."""

    @pytest.fixture
    def cache(self, tmp_path: Path) -> CompiledModelCache:
        """The cache to test: empty, and of its own for each test."""
        raise NotImplementedError("override the fixture 'cache'")

    @pytest.fixture
    def source(self, tmp_path: Path) -> Path:
        """A directory with files to store, outside of the cache."""
        return write_files(tmp_path / "source")

    def test_it_has_the_operations(self, cache: CompiledModelCache) -> None:
        assert isinstance(cache, CompiledModelCache)

    def test_nothing_is_found_in_an_empty_cache(self, cache: CompiledModelCache) -> None:
        assert cache.find("absent") is None

    def test_what_was_stored_is_found(self, cache: CompiledModelCache, source: Path) -> None:
        with cache.store("entry-1", source, key=KEY.parts(), compile_seconds=1.5) as stored:
            assert read_files(stored.path) == FILES
            assert not stored.hit
        found = cache.find("entry-1")
        assert found is not None
        with found:
            assert found.hit
            assert found.identifier == "entry-1"
            assert read_files(found.path) == FILES
            assert found.manifest.key == KEY.parts()
            assert found.manifest.compile_seconds == 1.5
            assert found.manifest.size == sum(map(len, FILES.values()))
            assert found.damage() is None

    def test_a_source_outside_is_left_as_it_is(
        self, cache: CompiledModelCache, source: Path
    ) -> None:
        cache.store("entry", source).close()
        assert read_files(source) == FILES

    def test_a_source_in_a_temporary_directory_is_stored(self, cache: CompiledModelCache) -> None:
        with cache.temporary_directory() as temporary:
            cache.store("entry", write_files(temporary / "model")).close()
        assert _content(cache, "entry") == FILES

    def test_storing_again_replaces(
        self, cache: CompiledModelCache, source: Path, tmp_path: Path
    ) -> None:
        cache.store("entry", source).close()
        cache.store("entry", write_files(tmp_path / "other", OTHER_FILES)).close()
        assert _content(cache, "entry") == OTHER_FILES

    def test_a_held_entry_survives_replacement_removal_and_purge(
        self, cache: CompiledModelCache, source: Path, tmp_path: Path
    ) -> None:
        cache.store("entry", source).close()
        held = cache.find("entry")
        assert held is not None
        with held:
            cache.store("entry", write_files(tmp_path / "other", OTHER_FILES)).close()
            assert read_files(held.path) == FILES
            cache.remove("entry")
            assert read_files(held.path) == FILES
            cache.purge()
            assert read_files(held.path) == FILES

    def test_closing_twice_does_nothing(self, cache: CompiledModelCache, source: Path) -> None:
        entry = cache.store("entry", source)
        entry.close()
        entry.close()

    def test_a_removed_entry_is_not_found(self, cache: CompiledModelCache, source: Path) -> None:
        cache.store("entry", source).close()
        cache.store("other", source).close()
        assert cache.remove("entry")
        assert cache.find("entry") is None
        assert not cache.remove("entry")
        assert _content(cache, "other") == FILES

    def test_purge_removes_everything(self, cache: CompiledModelCache, source: Path) -> None:
        for name in ("a", "b", "c"):
            cache.store(name, source).close()
        cache.purge()
        assert [cache.find(name) for name in ("a", "b", "c")] == [None] * 3

    def test_a_condemned_entry_is_not_found(self, cache: CompiledModelCache, source: Path) -> None:
        entry = cache.store("entry", source)
        entry.close()
        assert entry.condemn("it is a test")
        assert cache.find("entry") is None

    def test_condemning_spares_the_successor(
        self, cache: CompiledModelCache, source: Path, tmp_path: Path
    ) -> None:
        old = cache.store("entry", source)
        old.close()
        cache.store("entry", write_files(tmp_path / "other", OTHER_FILES)).close()
        old.condemn("it is a test")
        assert _content(cache, "entry") == OTHER_FILES

    @pytest.mark.parametrize("identifier", BAD_IDENTIFIERS)
    def test_bad_identifiers_are_refused(
        self, cache: CompiledModelCache, source: Path, identifier: str
    ) -> None:
        for operation in (
            lambda: cache.find(identifier),
            lambda: cache.store(identifier, source),
            lambda: cache.remove(identifier),
        ):
            with pytest.raises(CacheError) as raised:
                operation()
            assert raised.value.code is CacheErrorCode.INVALID_IDENTIFIER

    @pytest.mark.parametrize("identifier", GOOD_IDENTIFIERS)
    def test_good_identifiers_are_taken(
        self, cache: CompiledModelCache, source: Path, identifier: str
    ) -> None:
        cache.store(identifier, source).close()
        assert _content(cache, identifier) == FILES
        assert cache.remove(identifier)

    @pytest.mark.parametrize("details", BAD_DETAILS)
    def test_details_that_no_manifest_can_keep_are_refused(
        self, cache: CompiledModelCache, source: Path, details: dict[str, Any]
    ) -> None:
        with pytest.raises(UsageError):
            cache.store("entry", source, **details)
        assert cache.find("entry") is None

    def test_a_broken_entry_is_not_served(self, cache: CompiledModelCache, source: Path) -> None:
        cache.store("entry", source).close()
        found = cache.find("entry")
        assert found is not None
        with found:
            (found.path / "model.xml").write_bytes(b"<net")
            assert found.damage() is not None
        again = cache.find("entry")  # a cache that hands out copies still has a whole one
        if again is not None:
            with again:
                assert read_files(again.path) == FILES

    @pytest.mark.parametrize("kind", ["absent", "file", "empty", "link", "symlink", "pipe"])
    def test_bad_sources_are_refused(
        self, cache: CompiledModelCache, tmp_path: Path, source: Path, kind: str
    ) -> None:
        path = tmp_path / "bad"
        if kind == "file":
            path.write_bytes(b"not a directory")
        elif kind == "link":
            path.symlink_to(source)
        elif kind != "absent":
            path.mkdir()
        if kind == "symlink":
            (path / "link").symlink_to(source / "model.xml")
        if kind == "pipe":
            os.mkfifo(path / "pipe")
        with pytest.raises(CacheError) as raised:
            cache.store("entry", path)
        assert raised.value.code is CacheErrorCode.SOURCE_NOT_FOUND
        assert cache.find("entry") is None

    def test_a_temporary_directory_is_empty_and_goes(self, cache: CompiledModelCache) -> None:
        with cache.temporary_directory() as first, cache.temporary_directory() as second:
            assert first != second
            assert list(first.iterdir()) == []
            write_files(first)
        assert not first.exists()

    def test_a_temporary_directory_goes_when_its_block_raises(
        self, cache: CompiledModelCache
    ) -> None:
        with pytest.raises(ArithmeticError), cache.temporary_directory() as temporary:
            write_files(temporary)
            raise ArithmeticError
        assert not temporary.exists()

    def test_get_or_compile_compiles_once(self, cache: CompiledModelCache) -> None:
        compiled = []

        def compile(directory: Path) -> None:
            compiled.append(list(directory.iterdir()))
            write_files(directory)

        for hit in (False, True, True):
            with cache.get_or_compile(KEY, compile) as entry:
                assert entry.hit is hit
                assert read_files(entry.path) == FILES
                assert entry.manifest.key == KEY.parts()
        assert compiled == [[]]
        assert _content(cache, KEY.identifier) == FILES

    def test_a_failing_compile_leaves_nothing(self, cache: CompiledModelCache) -> None:
        def fail(directory: Path) -> None:
            write_files(directory)
            raise ArithmeticError("a bug in the engine")

        with pytest.raises(ArithmeticError, match="a bug in the engine"):
            cache.get_or_compile(KEY, fail)
        assert cache.find(KEY.identifier) is None

    def test_a_full_disk_is_told(self, cache: CompiledModelCache) -> None:
        def fill(directory: Path) -> None:
            raise OSError(errno.ENOSPC, "No space left on device")

        with pytest.raises(CacheError) as raised:
            cache.get_or_compile(KEY, fill)
        assert raised.value.code is CacheErrorCode.DISK_FULL
        assert cache.find(KEY.identifier) is None

    def test_threads_that_ask_at_once_get_one_compile(self, cache: CompiledModelCache) -> None:
        threads = 8
        barrier = threading.Barrier(threads)
        compiled = []

        def compile(directory: Path) -> None:
            compiled.append(directory)
            write_files(directory)

        def ask(_: int) -> dict[str, bytes]:
            barrier.wait()
            with cache.get_or_compile(KEY, compile) as entry:
                return read_files(entry.path)

        with ThreadPoolExecutor(threads) as pool:
            answers = list(pool.map(ask, range(threads)))
        assert answers == [FILES] * threads
        assert len(compiled) == 1


def _content(cache: CompiledModelCache, identifier: str) -> dict[str, bytes]:
    entry = cache.find(identifier)
    assert entry is not None
    with entry:
        return read_files(entry.path)
