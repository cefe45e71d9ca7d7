"""What a cache directory is, beyond the contract of every cache."""

from __future__ import annotations

import errno
import json
import os
import plistlib
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

import pytest

from pteron.cache import CacheKey, DirectoryCache, Limits, backups, locks
from pteron.cache.testing import FILES, KEY, OTHER_FILES, read_files, write_files
from pteron.errors import CacheError, CacheErrorCode
from tests.cache.processes import exit_code, in_child

Put = Callable[..., None]


def compile(directory: Path) -> None:
    write_files(directory)


def test_layout(cache: DirectoryCache) -> None:
    cache.get_or_compile(KEY, compile).close()
    assert (cache.path / "version.txt").read_text() == "1\n"
    tag = (cache.path / "CACHEDIR.TAG").read_bytes()
    assert tag.startswith(b"Signature: 8a477f597d28d172789f06886806bc55")
    assert [path.name for path in (cache.path / "entries").iterdir()] == [KEY.identifier]
    for place in ("temp", "compiling"):
        assert list((cache.path / place).iterdir()) == []


def test_constructing_touches_nothing(cache: DirectoryCache) -> None:
    assert not cache.path.exists()


def test_manifest_tells_why_entries_differ(cache: DirectoryCache) -> None:
    other = CacheKey(KEY.payload_digest, "engine", "2.0", KEY.device_features, KEY.options)
    for key in (KEY, other):
        cache.get_or_compile(key, compile).close()
    listed = {each.identifier: each.manifest.key for each in cache.entries() if each.manifest}
    assert listed == {KEY.identifier: KEY.parts(), other.identifier: other.parts()}


def test_newer_format_is_left_alone_and_not_used(cache: DirectoryCache) -> None:
    cache.get_or_compile(KEY, compile).close()
    (cache.path / "version.txt").write_text("2\n")
    before = read_files(cache.path)
    for use in (lambda c: c.find("a"), lambda c: c.purge(), lambda c: c.entries()):
        with pytest.raises(CacheError, match="newer") as raised:
            use(DirectoryCache(cache.path))
        assert raised.value.code is CacheErrorCode.INITIALIZATION_FAILED
    assert read_files(cache.path) == before


@pytest.mark.parametrize("version", ["0\n", "", "garbage", None])
def test_older_or_unknown_format_is_purged(cache: DirectoryCache, version: str | None) -> None:
    cache.get_or_compile(KEY, compile).close()
    if version is None:
        (cache.path / "version.txt").unlink()
    else:
        (cache.path / "version.txt").write_text(version)
    fresh = DirectoryCache(cache.path)
    assert fresh.find(KEY.identifier) is None
    assert (cache.path / "version.txt").read_text() == "1\n"
    assert list((cache.path / "models").iterdir()) == []


def test_directory_with_other_things_is_refused(cache: DirectoryCache) -> None:
    write_files(cache.path, {"models/thesis.tex": b"precious"})
    (cache.path / "letters").mkdir()
    with pytest.raises(CacheError, match="'letters'"):
        cache.purge()
    assert (cache.path / "models" / "thesis.tex").read_bytes() == b"precious"


@pytest.mark.parametrize("version", ["0.9.1\n", "0\n", "1\n"])
def test_project_with_a_version_file_is_no_old_cache(cache: DirectoryCache, version: str) -> None:
    files = {"version.txt": version.encode(), "models/thesis.tex": b"precious"}
    write_files(cache.path, files)
    cache.path.chmod(0o700)
    with pytest.raises(CacheError):
        cache.get_or_compile(KEY, compile)
    with pytest.raises(CacheError):
        cache.purge()
    assert (cache.path / "models" / "thesis.tex").read_bytes() == b"precious"


def test_many_processes_make_the_directory_at_once(tmp_path: Path) -> None:
    for number in range(5):
        path = tmp_path / str(number)
        start = time.monotonic() + 0.05

        def use(path: Path = path, start: float = start) -> None:
            time.sleep(max(0.0, start - time.monotonic()))
            assert DirectoryCache(path).find("absent") is None

        children = [in_child(use) for _ in range(12)]
        assert [exit_code(child) for child in children] == [0] * 12


def test_directory_that_is_missing_is_made_again(cache: DirectoryCache) -> None:
    cache.get_or_compile(KEY, compile).close()
    (cache.path / "temp").rmdir()
    other = CacheKey("other", "engine", "1.0")
    DirectoryCache(cache.path).get_or_compile(other, compile).close()
    assert len(cache.entries()) == 2


def test_path_may_lead_through_a_symbolic_link(cache: DirectoryCache, tmp_path: Path) -> None:
    cache.get_or_compile(KEY, compile).close()
    (tmp_path / "link").symlink_to(cache.path)
    with DirectoryCache(tmp_path / "link").find(KEY.identifier) as entry:
        assert read_files(entry.path) == FILES


def test_macos_leaves_it_out_of_backups(
    cache: DirectoryCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    calls = []

    def setxattr(path: bytes, name: bytes, value: bytes, size: object, *rest: int) -> int:
        calls.append((path, name, plistlib.loads(value), rest))
        return 0

    monkeypatch.setattr(backups.sys, "platform", "darwin")
    library = SimpleNamespace(setxattr=setxattr)
    monkeypatch.setattr(backups.ctypes, "CDLL", lambda *_, **__: library)
    cache.find("absent")
    name = b"com.apple.metadata:com_apple_backup_excludeItem"
    assert calls == [(os.fsencode(cache.path), name, "com.apple.backupd", (0, 0))]


def test_directory_that_was_deleted_is_made_again(cache: DirectoryCache) -> None:
    import shutil

    cache.get_or_compile(KEY, compile).close()
    shutil.rmtree(cache.path)
    assert cache.find(KEY.identifier) is None
    cache.get_or_compile(KEY, compile).close()
    assert cache.find(KEY.identifier) is not None


def test_read_only_serves_hits_and_changes_nothing(cache: DirectoryCache) -> None:
    cache.get_or_compile(KEY, compile).close()
    before = read_files(cache.path)
    baked = DirectoryCache(cache.path, read_only=True)
    with baked.get_or_compile(KEY, compile) as entry:
        assert entry.hit
    absent = CacheKey("absent", "engine", "1.0")
    with baked.get_or_compile(absent, compile) as entry:
        assert not entry.hit
        assert not entry.path.is_relative_to(cache.path)
        assert read_files(entry.path) == FILES
    for change in (baked.purge, baked.evict, lambda: baked.remove("a"), baked.temporary_directory):
        with pytest.raises(CacheError, match="read-only"):
            change()
    assert read_files(cache.path) == before


def test_read_only_cache_that_does_not_exist_is_not_made(cache: DirectoryCache) -> None:
    with pytest.raises(CacheError, match="does not exist"):
        DirectoryCache(cache.path, read_only=True).find("a")
    assert not cache.path.exists()


@pytest.mark.parametrize(
    "damage",
    [
        lambda model: (model / "model.xml").write_bytes(b"<net"),
        lambda model: (model / "model.xml").unlink(),
        lambda model: (model / "additional").write_bytes(b""),
        lambda model: (model.parent / "manifest.json").write_text("{}"),
        lambda model: (model.parent / "manifest.json").write_text("[" * 100_000),
        lambda model: (model.parent / "manifest.json").write_bytes(b"\xff\xfe"),
        lambda model: (model.parent / "manifest.json").unlink(),
        lambda model: model.rename(model.parent / "moved"),
    ],
)
def test_broken_entry_is_a_miss_and_goes(
    cache: DirectoryCache, damage: Callable[[Path], object], caplog: pytest.LogCaptureFixture
) -> None:
    with cache.get_or_compile(KEY, compile) as entry:
        path = entry.path
    damage(path)
    assert cache.find(KEY.identifier) is None
    assert caplog.text.count("is broken") == 1
    assert cache.entries() == []
    with cache.get_or_compile(KEY, compile) as entry:
        assert not entry.hit
    assert len(list((cache.path / "models").iterdir())) == 1


def test_manifest_of_another_entry_is_refused(cache: DirectoryCache, put: Put) -> None:
    put(cache, "a")
    put(cache, "b")
    a, b = (cache.path / "models" / listed.generation for listed in cache.entries())
    (a / "manifest.json").write_bytes((b / "manifest.json").read_bytes())
    assert cache.find("a") is None
    assert cache.find("b") is not None


def test_verify_finds_flipped_bits_and_removes_them(cache: DirectoryCache, put: Put) -> None:
    put(cache, "good")
    put(cache, "bad")
    with cache.find("bad") as entry:
        (entry.path / "model.bin").write_bytes(b"x" * 100)
    cache.find("bad").close()  # a cheap look does not notice
    outcome = cache.verify()
    assert outcome["good"] is None
    assert "model.bin" in str(outcome["bad"])
    assert [listed.identifier for listed in cache.entries()] == ["good"]
    assert cache.verify(["absent"]) == {}


def test_verifying_cache_checks_every_byte_at_once(cache: DirectoryCache, put: Put) -> None:
    put(cache, "entry")
    with cache.find("entry") as entry:
        (entry.path / "model.bin").write_bytes(b"x" * 100)
    assert DirectoryCache(cache.path, verify=True).find("entry") is None


def test_entry_replaced_under_a_reader_of_another_process(
    cache: DirectoryCache, tmp_path: Path
) -> None:
    cache.store("entry", write_files(tmp_path / "old")).close()
    with cache.find("entry") as entry:

        def replace() -> None:
            other = DirectoryCache(cache.path)
            other.store("entry", write_files(tmp_path / "new", OTHER_FILES)).close()
            other.remove("entry")
            other.purge()

        assert exit_code(in_child(replace)) == 0
        assert read_files(entry.path) == FILES
    DirectoryCache(cache.path).find("entry")  # opening sweeps what was held
    assert list((cache.path / "models").iterdir()) == []


def test_leftovers_go_when_their_owner_is_dead_and_only_then(cache: DirectoryCache) -> None:
    def die_at_work() -> None:
        with DirectoryCache(cache.path).temporary_directory() as path:
            write_files(path)
            os.kill(os.getpid(), signal.SIGKILL)

    with cache.temporary_directory() as mine:
        assert exit_code(in_child(die_at_work)) == -signal.SIGKILL
        long_ago = time.time() - 1e7
        os.utime(mine, (long_ago, long_ago))
        assert len(list((cache.path / "temp").glob("*.lock"))) == 2
        DirectoryCache(cache.path).find("a")
        assert [path.stem for path in (cache.path / "temp").glob("*.lock")] == [mine.name]
        assert mine.is_dir()


def test_orphans_of_every_kind_are_swept(cache: DirectoryCache, put: Put) -> None:
    put(cache, "kept")
    write_files(cache.path / "models" / "lost.0123456789abcdef")
    write_files(cache.path / "models" / "strange")
    (cache.path / "temp" / "file").write_bytes(b"")
    write_files(cache.path / "temp" / "without-owner")
    (cache.path / "compiling" / "nobody").write_bytes(b"")
    cache.evict()
    assert len(list((cache.path / "models").iterdir())) == 1
    for place in ("temp", "compiling"):
        assert list((cache.path / place).iterdir()) == []
    assert [listed.identifier for listed in cache.entries()] == ["kept"]


def test_filesystem_without_locks(
    cache: DirectoryCache, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def flock(fd: int, flags: int) -> None:
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(locks.fcntl, "flock", flock)
    other = DirectoryCache(cache.path)
    with cache.get_or_compile(KEY, compile) as entry, other.temporary_directory():
        DirectoryCache(cache.path).find("a")  # sweeps; the owner of what it finds lives
        assert len(list((cache.path / "temp").glob("*.lock"))) == 1
        other.store(KEY.identifier, write_files(cache.path.parent / "o", OTHER_FILES)).close()
        assert read_files(entry.path) == FILES  # not deleted: it may be in use
    with cache.find(KEY.identifier) as found:
        assert read_files(found.path) == OTHER_FILES  # the last writer wins
    assert "has no locks" in caplog.text


def test_forked_child_does_not_hold_its_parents_locks(cache: DirectoryCache) -> None:
    read, write = os.pipe()

    def fork_and_die() -> None:
        with DirectoryCache(cache.path).temporary_directory():
            in_child(lambda: (os.close(write), os.read(read, 1)))  # outlives its parent
            os.kill(os.getpid(), signal.SIGKILL)

    assert exit_code(in_child(fork_and_die)) == -signal.SIGKILL
    deadline = time.monotonic() + 10  # the child may not have run yet
    while list((cache.path / "temp").iterdir()) and time.monotonic() < deadline:
        DirectoryCache(cache.path).find("a")
    assert list((cache.path / "temp").iterdir()) == []
    os.close(write)
    os.close(read)


def test_statistics_survive_processes(cache: DirectoryCache, put: Put) -> None:
    put(cache, "entry", 1000)

    def use() -> None:
        other = DirectoryCache(cache.path)
        other.find("entry").close()
        other.find("absent")

    for _ in range(3):
        assert exit_code(in_child(use)) == 0
    statistics = cache.statistics()
    assert (statistics.hits, statistics.misses, statistics.stores) == (3, 3, 1)
    assert statistics.bytes_stored == 1000


def test_hits_save_the_seconds_of_the_compile(cache: DirectoryCache) -> None:
    def slow(directory: Path) -> None:
        time.sleep(0.05)
        compile(directory)

    for _ in range(3):
        cache.get_or_compile(KEY, slow).close()
    assert 0.1 <= cache.statistics().compile_seconds_saved < 5


@pytest.mark.parametrize("content", ["", "too short", "longer" * 99, "\0" * 55 + "x"])
def test_damaged_statistics_begin_anew(cache: DirectoryCache, put: Put, content: str) -> None:
    put(cache, "entry")
    (cache.path / "statistics").write_text(content)
    cache.find("entry").close()
    assert cache.statistics().hits == 1


def test_ten_thousand_entries(cache: DirectoryCache) -> None:
    cache.find("absent")
    for number in range(10_000):
        name, generation = f"entry-{number}", f"entry-{number}.0123456789abcdef"
        model = cache.path / "models" / generation / "model"
        model.mkdir(parents=True)
        (model / "m").write_bytes(b"x" * 10)
        manifest = {"identifier": name, "created": 0, "compile_seconds": 0, "key": {}}
        manifest["files"] = {"m": [10, "0" * 32]}
        (model.parent / "manifest.json").write_text(json.dumps(manifest))
        (cache.path / "entries" / name).write_text(generation)
    assert len(cache.entries()) == 10_000
    cache.find("entry-5000").close()
    small = DirectoryCache(cache.path, max_bytes=99_000)
    assert small.evict() == 100
    assert small.find("entry-5000") is not None
    small.purge()
    assert cache.entries() == []
    assert list((cache.path / "models").iterdir()) == []


def test_filesystem_that_cannot_be_written_costs_a_warning(
    small_disk: Path, caplog: pytest.LogCaptureFixture
) -> None:
    DirectoryCache(small_disk / "cache").get_or_compile(KEY, compile).close()
    subprocess.run(["mount", "-o", "remount,ro", str(small_disk)], check=True)
    cache = DirectoryCache(small_disk / "cache")
    with cache.get_or_compile(KEY, compile) as entry:
        assert entry.hit
    with cache.get_or_compile(CacheKey("absent", "engine", "1.0"), compile) as entry:
        assert not entry.hit
        assert read_files(entry.path) == FILES
        assert not entry.path.is_relative_to(small_disk)
    assert "cannot be written" in caplog.text


@pytest.mark.parametrize(
    ("field", "value"), [("key", "text"), ("key", None), ("identifier", 5), ("created", "soon")]
)
def test_manifest_with_a_field_of_another_type_is_broken(
    cache: DirectoryCache, field: str, value: object
) -> None:
    with cache.get_or_compile(KEY, compile) as entry:
        path = entry.path.parent / "manifest.json"
    path.write_text(json.dumps({**json.loads(path.read_text()), field: value}))
    assert [listed.manifest for listed in cache.entries()] == [None]
    assert cache.find(KEY.identifier) is None


def test_foreign_names_are_no_entries(cache: DirectoryCache, put: Put) -> None:
    put(cache, "entry")
    (cache.path / "entries" / ".nfs000001").write_text("entry.0123456789abcdef")
    assert cache.verify() == {"entry": None}
    assert [listed.identifier for listed in cache.entries()] == ["entry"]
    assert cache.evict(Limits(max_bytes=0)) == 1
