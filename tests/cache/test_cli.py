"""``pteron cache``: its answers for people, and as JSON for programs."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from pteron.cache import CacheKey, DirectoryCache
from pteron.cache.testing import KEY, write_files
from pteron.cli.app import app
from pteron.errors import CacheError, UsageError

OTHER = CacheKey(
    KEY.payload_digest, "engine", "2.0", {"cpu": "avx512"}, {"precision": "model", "threads": "2"}
)

Run = Callable[..., str]


@pytest.fixture
def run(cache: DirectoryCache, monkeypatch: pytest.MonkeyPatch) -> Run:
    """Runs ``pteron cache ...`` on the cache; gives what it printed."""
    monkeypatch.setenv("PTERON_CACHE_DIR", str(cache.path))
    for name in ("PTERON_CACHE", "PTERON_CACHE_SIZE"):
        monkeypatch.delenv(name, raising=False)

    def run(*arguments: str, code: int = 0) -> str:
        result = CliRunner().invoke(app, ["cache", *arguments])
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        assert result.exit_code == code, result.output
        return result.stdout

    return run


@pytest.fixture
def filled(cache: DirectoryCache) -> DirectoryCache:
    for key in (KEY, OTHER, CacheKey("another payload", "engine", "1.0")):
        cache.get_or_compile(key, lambda directory: write_files(directory)).close()
    return cache


def test_path(run: Run, cache: DirectoryCache) -> None:
    assert run("path") == f"{cache.path}\n"
    assert json.loads(run("path", "--json")) == {"path": str(cache.path), "exists": False}


def test_list_says_why_entries_differ(run: Run, filled: DirectoryCache) -> None:
    listed = {entry["identifier"]: entry for entry in json.loads(run("list", "--json"))}
    assert len(listed) == 3
    assert listed[KEY.identifier]["key"] == KEY.parts()
    assert listed[KEY.identifier]["differs"] == {
        "device_features.cpu": "avx2",
        "engine_version": "1.0",
        "options.threads": "",
    }
    assert listed[OTHER.identifier]["differs"]["options.threads"] == "2"
    assert "T" in listed[KEY.identifier]["last_used"]
    lines = run("list").splitlines()
    assert KEY.identifier in lines
    assert "    options.threads: (none)" in lines
    assert any(line.startswith("    engine 2.0, 16 KiB, last used 20") for line in lines)


def test_list_of_an_empty_and_of_a_broken_cache(run: Run, filled: DirectoryCache) -> None:
    for path in filled.path.glob("models/*/manifest.json"):
        path.write_text("broken")
    assert [entry["broken"] for entry in json.loads(run("list", "--json"))] == [True] * 3
    assert run("list").count("broken") == 3
    run("purge")
    assert json.loads(run("list", "--json")) == []


def test_stats(run: Run, filled: DirectoryCache) -> None:
    filled.find(KEY.identifier).close()
    stats: dict[str, Any] = json.loads(run("stats", "--json"))
    assert {name: stats[name] for name in ("entries", "hits", "misses", "stores")} == {
        "entries": 3,
        "hits": 1,
        "misses": 3,
        "stores": 3,
    }
    assert stats["bytes"] == stats["bytes_stored"]
    assert re.search(r"^hits +1$", run("stats"), re.MULTILINE)


def test_verify(run: Run, filled: DirectoryCache) -> None:
    assert run("verify") == "3 verified, 0 broken\n"
    with filled.find(KEY.identifier) as entry:
        (entry.path / "model.xml").write_bytes(b"<bad/>")
    answer = json.loads(run("verify", "--json", code=1))
    assert answer["verified"] == 3
    assert "model.xml" in answer["broken"][KEY.identifier]
    assert json.loads(run("verify", "--json")) == {
        "verified": 2,
        "broken": {},
        "absent": [],
    }


def test_remove(run: Run, filled: DirectoryCache) -> None:
    assert run("remove", KEY.identifier) == f"{KEY.identifier}: removed\n"
    answer = json.loads(run("remove", KEY.identifier, OTHER.identifier, "--json", code=1))
    assert answer == {KEY.identifier: False, OTHER.identifier: True}
    with pytest.raises(CacheError, match="invalid identifier"):
        run("remove", "../outside")


def test_evict(run: Run, filled: DirectoryCache) -> None:
    assert json.loads(run("evict", "--json")) == {"evicted": 0}
    assert json.loads(run("evict", "--max-age", "1h", "--json")) == {"evicted": 0}
    assert run("evict", "--max-size", "20K") == "2 evicted\n"
    with pytest.raises(UsageError, match="is not a size"):
        run("evict", "--max-size", "plenty")


def test_purge(run: Run, filled: DirectoryCache) -> None:
    assert json.loads(run("purge", "--json")) == {"removed": 3}
    assert run("purge") == "0 removed\n"


def test_another_directory(run: Run, tmp_path: Path) -> None:
    other = DirectoryCache(tmp_path / "other")
    other.store("entry", write_files(tmp_path / "source")).close()
    listed = json.loads(run("list", "--directory", str(other.path), "--json"))
    assert [entry["identifier"] for entry in listed] == ["entry"]


def test_cache_that_is_off_can_still_be_looked_into(
    run: Run, filled: DirectoryCache, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PTERON_CACHE", "off")
    assert len(json.loads(run("list", "--json"))) == 3


@pytest.mark.parametrize("exists", [False, True])
@pytest.mark.parametrize(
    ("arguments", "code", "answer"),
    [
        (["list"], 0, []),
        (["verify"], 0, {"verified": 0, "broken": {}, "absent": []}),
        (["verify", "nope"], 1, {"verified": 0, "broken": {}, "absent": ["nope"]}),
        (["purge"], 0, {"removed": 0}),
        (["evict"], 0, {"evicted": 0}),
        (["remove", "nope"], 1, {"nope": False}),
    ],
)
def test_looking_makes_no_cache(
    run: Run, tmp_path: Path, exists: bool, arguments: list[str], code: int, answer: object
) -> None:
    mistyped = tmp_path / "mistyped"
    if exists:
        mistyped.mkdir()
    output = run(*arguments, "--directory", str(mistyped), "--json", code=code)
    assert json.loads(output) == answer
    assert mistyped.exists() == exists
    assert not exists or list(mistyped.iterdir()) == []


def test_stats_of_no_cache(run: Run, tmp_path: Path) -> None:
    stats = json.loads(run("stats", "--directory", str(tmp_path / "mistyped"), "--json"))
    assert (stats["entries"], stats["hits"]) == (0, 0)
    assert not (tmp_path / "mistyped").exists()


def test_no_cache_is_told(tmp_path: Path) -> None:
    result = CliRunner().invoke(app, ["cache", "list", "--directory", str(tmp_path / "mistyped")])
    assert f"there is no cache in {tmp_path / 'mistyped'}" in result.stderr
    assert result.stdout == ""


def test_verify_names_what_is_not_there(run: Run, filled: DirectoryCache) -> None:
    assert run("verify", "nope", KEY.identifier, code=1) == (
        "nope: not there\n1 verified, 0 broken\n"
    )
    with pytest.raises(CacheError, match="invalid identifier"):
        run("verify", "../outside")


def test_manifest_of_another_shape_is_listed_as_broken(run: Run, filled: DirectoryCache) -> None:
    for path in filled.path.glob("models/*/manifest.json"):
        path.write_text(json.dumps({**json.loads(path.read_text()), "key": "text"}))
    assert run("list").count("broken") == 3
    assert [entry["broken"] for entry in json.loads(run("list", "--json"))] == [True] * 3


def test_foreign_names_do_not_stop_verifying(run: Run, filled: DirectoryCache) -> None:
    (filled.path / "entries" / ".nfs000001").touch()
    assert run("verify") == "3 verified, 0 broken\n"


def test_help_names_every_variable(run: Run) -> None:
    text = run("--help")
    for name in ("DIR", "SIZE", "REMOTE", "KEY", "KEY_FILE"):
        assert re.search(rf"PTERON_CACHE_{name}\b", text)
