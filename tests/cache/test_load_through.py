"""Loading through a cache: hits, misses, broken entries, caches that fail."""

from __future__ import annotations

import logging
from collections.abc import Callable
from pathlib import Path

import pytest

from pteron.cache import CacheKey, DirectoryCache, load_through
from pteron.errors import EngineError

KEY = CacheKey("aa" * 16, "engine", "1.0", {"cpu": "avx2"}, {"precision": "model"})


class Compiler:
    """Compiles to the given content, and counts how often."""

    def __init__(self, content: bytes = b"compiled") -> None:
        self.content = content
        self.calls = 0

    def __call__(self, directory: Path) -> None:
        self.calls += 1
        (directory / "model.bin").write_bytes(self.content)


def read(directory: Path) -> bytes:
    return (directory / "model.bin").read_bytes()


def strict_reader(expected: bytes) -> Callable[[Path], bytes]:
    def load(directory: Path) -> bytes:
        content = read(directory)
        if content != expected:
            raise EngineError("the compiled model cannot be imported")
        return content

    return load


@pytest.fixture
def cache(tmp_path: Path) -> DirectoryCache:
    return DirectoryCache(tmp_path / "cache")


def model_file(cache: DirectoryCache) -> Path:
    with cache.find(KEY.identifier) as entry:
        return entry.path / "model.bin"


def test_second_load_is_a_hit(cache: DirectoryCache) -> None:
    compiler = Compiler()
    first = load_through(cache, KEY, compiler, read)
    second = load_through(DirectoryCache(cache.path), KEY, compiler, read)
    assert (first.value, first.hit) == (b"compiled", False)
    assert (second.value, second.hit) == (b"compiled", True)
    assert compiler.calls == 1


def test_no_cache_compiles_every_time_and_leaves_nothing(tmp_path: Path) -> None:
    compiler = Compiler()
    loaded = [load_through(None, KEY, compiler, lambda path: path) for _ in range(2)]
    assert compiler.calls == 2
    assert all(read(each.value) == b"compiled" for each in loaded)
    for each in loaded:
        each.close()
        assert not each.value.exists()


def test_truncated_entry_is_recompiled_with_a_log_line(
    cache: DirectoryCache, caplog: pytest.LogCaptureFixture
) -> None:
    compiler = Compiler()
    load_through(cache, KEY, compiler, read).close()
    model_file(cache).write_bytes(b"comp")
    loaded = load_through(cache, KEY, compiler, read)
    assert (loaded.value, loaded.hit, compiler.calls) == (b"compiled", False, 2)
    assert "broken" in caplog.text
    assert cache.statistics().recoveries == 1


def test_entry_that_fails_to_load_is_recompiled_once(cache: DirectoryCache) -> None:
    compiler = Compiler()
    load_through(cache, KEY, compiler, read).close()
    model_file(cache).write_bytes(b"bit flip")  # the size is right, the bytes are not
    loaded = load_through(cache, KEY, compiler, strict_reader(b"compiled"))
    assert (loaded.value, loaded.hit, compiler.calls) == (b"compiled", False, 2)


def test_second_failure_is_the_engines(cache: DirectoryCache) -> None:
    compiler = Compiler()
    load_through(cache, KEY, compiler, read).close()
    with pytest.raises(EngineError):
        load_through(cache, KEY, compiler, strict_reader(b"never"))
    assert compiler.calls == 2


def test_what_compile_raises_passes_through(cache: DirectoryCache) -> None:
    def fail(directory: Path) -> None:
        raise EngineError("no such op")

    with pytest.raises(EngineError, match="no such op"):
        load_through(cache, KEY, fail, read)
    assert list((cache.path / "temp").iterdir()) == []


def test_cache_that_cannot_be_used_costs_a_warning(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "file").write_text("not a directory")
    caplog.set_level(logging.WARNING)
    loaded = load_through(DirectoryCache(tmp_path / "file"), KEY, Compiler(), read)
    assert (loaded.value, loaded.hit) == (b"compiled", False)
    assert "without a cache" in caplog.text


def test_read_only_cache_with_a_broken_entry_still_loads(cache: DirectoryCache) -> None:
    load_through(cache, KEY, Compiler(), read).close()
    model_file(cache).write_bytes(b"bit flip")
    baked = DirectoryCache(cache.path, read_only=True)
    assert load_through(baked, KEY, Compiler(), strict_reader(b"compiled")).value == b"compiled"
    assert read(model_file(cache).parent) == b"bit flip"
