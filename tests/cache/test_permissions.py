"""Whose cache directory it is, and what may lead out of it."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

import pytest

from pteron.cache import CacheKey, DirectoryCache, load_through
from pteron.errors import CacheError, CacheErrorCode
from tests.cache.processes import exit_code, in_child

NOBODY = 65534
KEY = CacheKey("payload", "engine", "1")

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can become another user")


def compile(directory: Path) -> None:
    (directory / "model.bin").write_bytes(b"compiled")


def load(directory: Path) -> bytes:
    return (directory / "model.bin").read_bytes()


def as_nobody(action: Callable[[], None]) -> None:
    """Run in a child that is another user; raises unless it succeeds."""

    def run() -> None:
        os.setgroups([])
        os.setgid(NOBODY)
        os.setuid(NOBODY)
        action()

    assert exit_code(in_child(run)) == 0


def refused(cache: DirectoryCache, why: str) -> None:
    with pytest.raises(CacheError, match=why) as raised:
        cache.find("entry")
    assert raised.value.code is CacheErrorCode.INITIALIZATION_FAILED


def test_directories_are_private(cache: DirectoryCache) -> None:
    with cache.get_or_compile(KEY, compile):
        for path in [cache.path, *(p for p in cache.path.rglob("*") if p.is_dir())]:
            assert path.stat().st_mode & 0o077 == 0, path


@pytest.mark.parametrize("mode", [0o770, 0o707, 0o777])
def test_directory_that_others_can_write_is_refused(cache: DirectoryCache, mode: int) -> None:
    cache.path.mkdir()
    cache.path.chmod(mode)
    refused(cache, "chmod go-w")


@needs_root
def test_directory_of_another_user_is_refused(cache: DirectoryCache) -> None:
    cache.path.mkdir(mode=0o700)
    os.chown(cache.path, NOBODY, NOBODY)
    refused(cache, "belongs to another user")


@pytest.mark.parametrize("name", ["entries", "models", "temp", "compiling"])
def test_symlink_out_of_the_cache_is_refused(
    cache: DirectoryCache, tmp_path: Path, name: str
) -> None:
    cache.get_or_compile(KEY, compile).close()
    (cache.path / name).rename(tmp_path / "elsewhere")
    (cache.path / name).symlink_to(tmp_path / "elsewhere")
    refused(DirectoryCache(cache.path), "symbolic link")
    assert (tmp_path / "elsewhere").is_dir()


def test_symlink_as_pointer_or_file_is_a_broken_entry(
    cache: DirectoryCache, tmp_path: Path
) -> None:
    with cache.get_or_compile(KEY, compile) as entry:
        file = entry.path / "model.bin"
    file.rename(tmp_path / "outside")
    file.symlink_to(tmp_path / "outside")
    assert cache.find(KEY.identifier) is None
    cache.get_or_compile(KEY, compile).close()
    pointer = cache.path / "entries" / KEY.identifier
    pointer.rename(tmp_path / "pointer")
    pointer.symlink_to(tmp_path / "pointer")
    assert cache.find(KEY.identifier) is None
    assert (tmp_path / "outside").read_bytes() == b"compiled"


def test_pointer_out_of_the_cache_is_a_broken_entry(cache: DirectoryCache, tmp_path: Path) -> None:
    cache.get_or_compile(KEY, compile).close()
    (cache.path / "entries" / KEY.identifier).write_text("../../outside")
    assert cache.find(KEY.identifier) is None


@needs_root
def test_another_user_reads_a_cache_of_roots_and_stores_nothing(
    cache: DirectoryCache, tmp_path: Path
) -> None:
    cache.get_or_compile(KEY, compile).close()
    other = CacheKey("another payload", "engine", "1")
    for path in [cache.path, *cache.path.rglob("*")]:
        path.chmod(0o755)
    for parent in cache.path.parents:
        if parent.stat().st_uid == 0 and parent != Path("/"):
            parent.chmod(parent.stat().st_mode | 0o011)

    def use() -> None:
        baked = DirectoryCache(cache.path)
        assert load_through(baked, KEY, compile, load).hit
        loaded = load_through(baked, other, compile, load)
        assert (loaded.value, loaded.hit) == (b"compiled", False)
        with pytest.raises(CacheError, match="read-only"):
            baked.purge()

    as_nobody(use)
    assert len(cache.entries()) == 1


@needs_root
def test_permission_denied_costs_a_warning(cache: DirectoryCache) -> None:
    cache.get_or_compile(KEY, compile).close()

    def use() -> None:
        assert load_through(DirectoryCache(cache.path), KEY, compile, load).value == b"compiled"

    as_nobody(use)
