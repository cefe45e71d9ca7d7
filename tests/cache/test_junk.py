"""What others leave in a cache directory: strangers' files are kept, junk of no use is swept."""

from __future__ import annotations

from pathlib import Path

import pytest

from pteron.cache import DirectoryCache
from pteron.cache.testing import FILES, KEY, read_files, write_files
from pteron.errors import CacheError, CacheErrorCode
from tests.cache.processes import exit_code, in_child


def compile(directory: Path) -> None:
    write_files(directory)


def recompiles(path: Path) -> None:
    """A new user of the cache finds the entry broken, and compiles it anew, once."""
    for hit in (False, True):
        with DirectoryCache(path).get_or_compile(KEY, compile) as entry:
            assert entry.hit is hit
            assert read_files(entry.path) == FILES


def place(kind: str, path: Path, outside: Path) -> None:
    """Put a directory with a file in it, or a link to one, at a path."""
    write_files(outside, {"precious": b"precious"})
    if kind == "directory":
        write_files(path, {"junk": b"junk"})
    elif kind == "link":
        path.symlink_to(outside)
    else:
        path.symlink_to(outside / "absent")


def is_untouched(outside: Path) -> bool:
    return read_files(outside) == {"precious": b"precious"}


KINDS = ["directory", "link", "dangling link"]


@pytest.mark.parametrize(
    "path",
    [
        "models/llama/weights.bin",
        "temp/thesis.tex",
        "entries/one",
        "compiling/main.c",
        "statistics",
        "usage.json",
        "version.txt.new",
        "lock/key",
        "CACHEDIR.TAG/tag",
    ],
)
def test_strangers_files_are_never_deleted(cache: DirectoryCache, path: str) -> None:
    write_files(cache.path, {path: b"precious"}).chmod(0o700)
    for use in (cache.entries, cache.purge, cache.evict, lambda: cache.find("entry")):
        with pytest.raises(CacheError, match="is no cache") as raised:
            use()
        assert raised.value.code is CacheErrorCode.INITIALIZATION_FAILED
    assert read_files(cache.path) == {path: b"precious"}
    assert len(list(cache.path.iterdir())) == 1


def test_strangers_link_is_refused(cache: DirectoryCache, tmp_path: Path) -> None:
    cache.path.mkdir(mode=0o700)
    place("link", cache.path / "models", tmp_path / "outside")
    with pytest.raises(CacheError, match="'models'"):
        cache.purge()
    assert is_untouched(tmp_path / "outside")


def test_making_that_was_cut_short_is_taken_up(cache: DirectoryCache) -> None:
    for name in ("models", "entries"):
        (cache.path / name).mkdir(mode=0o700, parents=True)
    (cache.path / "lock").touch()
    (cache.path / "CACHEDIR.TAG.new").write_text("Signa")
    cache.path.chmod(0o700)
    recompiles(cache.path)


@pytest.mark.parametrize(
    "mark", [".orphan", "..orphan", "...orphan", "a.orphan", "..lock", ".lock"]
)
def test_odd_name_in_temp_deletes_itself_only(cache: DirectoryCache, mark: str) -> None:
    cache.get_or_compile(KEY, compile).close()
    (cache.path / "temp" / mark).touch()
    again = DirectoryCache(cache.path)
    with again.get_or_compile(KEY, compile) as entry:
        assert entry.hit
    assert list((cache.path / "temp").iterdir()) == []


@pytest.mark.parametrize("verify", [False, True])
@pytest.mark.parametrize("depth", ["generation", "model"])
def test_link_out_of_the_cache_is_a_broken_entry(
    cache: DirectoryCache, tmp_path: Path, depth: str, verify: bool
) -> None:
    with cache.get_or_compile(KEY, compile) as entry:
        link = entry.path if depth == "model" else entry.path.parent
    outside = tmp_path / "outside"
    link.rename(outside)
    link.symlink_to(outside)
    before = {path: path.stat().st_mtime_ns for path in outside.rglob("*")}
    files = read_files(outside)
    assert DirectoryCache(cache.path, verify=verify).find(KEY.identifier) is None
    recompiles(cache.path)
    assert read_files(outside) == files
    assert {path: path.stat().st_mtime_ns for path in outside.rglob("*")} == before


@pytest.mark.parametrize("kind", KINDS)
def test_no_file_in_a_manifests_place(cache: DirectoryCache, tmp_path: Path, kind: str) -> None:
    with cache.get_or_compile(KEY, compile) as entry:
        manifest = entry.path.parent / "manifest.json"
    manifest.unlink()
    place(kind, manifest, tmp_path / "outside")
    junk = cache.path / "models" / "j2"
    junk.mkdir()
    place(kind, junk / "manifest.json", tmp_path / "outside")
    recompiles(cache.path)
    cache.evict()
    assert len(list((cache.path / "models").iterdir())) == 1
    assert is_untouched(tmp_path / "outside")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    "name",
    [
        "temp/z.lock",
        "temp/0123456789abcdef.lock",
        "temp/entry.0123456789abcdef.orphan",
        "compiling/q",
        f"compiling/{KEY.identifier}",
        "lock",
        "statistics",
        "usage.json",
        "version.txt",
    ],
)
def test_no_file_in_a_files_place(
    cache: DirectoryCache, tmp_path: Path, kind: str, name: str
) -> None:
    cache.get_or_compile(KEY, compile).close()
    (cache.path / name).unlink(missing_ok=True)
    place(kind, cache.path / name, tmp_path / "outside")
    fresh = DirectoryCache(cache.path)
    fresh.get_or_compile(KEY, compile).close()
    fresh.evict()
    fresh.store("another", write_files(tmp_path / "source")).close()
    assert [listed.identifier for listed in fresh.entries()] == sorted([KEY.identifier, "another"])
    assert fresh.statistics().stores >= 1
    assert list((cache.path / "temp").iterdir()) == []
    assert list((cache.path / "compiling").iterdir()) == []
    assert is_untouched(tmp_path / "outside")


def test_older_format_is_purged_but_for_what_is_held(cache: DirectoryCache) -> None:
    with cache.get_or_compile(KEY, compile) as entry, cache.temporary_directory() as work:
        (cache.path / "version.txt").write_text("0\n")

        def use() -> None:
            assert DirectoryCache(cache.path).find(KEY.identifier) is None

        assert exit_code(in_child(use)) == 0
        assert read_files(entry.path) == FILES
        assert work.is_dir()
    DirectoryCache(cache.path).evict()
    assert list((cache.path / "models").iterdir()) == []


@pytest.mark.parametrize("name", ["", ".", "..", "a/b"])
def test_no_path_is_made_of_what_is_no_generation(name: str) -> None:
    from pteron.cache.layout import Layout

    with pytest.raises(ValueError, match="no generation"):
        Layout(Path("cache")).generation(name)
