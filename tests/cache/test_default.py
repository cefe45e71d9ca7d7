"""The process-wide cache, and what the environment says about it."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

import pteron.cache
from pteron.cache import DirectoryCache, MemoryCache, TieredCache, default_cache, set_default_cache
from pteron.cache.default import user_cache_path
from pteron.cache.units import parse_age, parse_size
from pteron.errors import CacheError, UsageError


@pytest.fixture(autouse=True)
def clean(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for name in ("PTERON_CACHE", "PTERON_CACHE_DIR", "PTERON_CACHE_SIZE"):
        monkeypatch.delenv(name, raising=False)
    yield
    pteron.cache.reset_default_cache()


def test_default_is_in_the_users_cache_directory() -> None:
    cache = default_cache()
    assert isinstance(cache, DirectoryCache)
    assert cache.path == user_cache_path()
    assert cache is default_cache()


def test_environment_chooses_directory_and_size(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PTERON_CACHE_DIR", str(tmp_path))
    monkeypatch.setenv("PTERON_CACHE_SIZE", "500M")
    cache = default_cache()
    assert isinstance(cache, DirectoryCache)
    assert (cache.path, cache.limits.max_bytes) == (tmp_path, 500 << 20)


@pytest.mark.parametrize("value", ["off", "OFF", "0", "False", " no "])
def test_environment_turns_caching_off(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("PTERON_CACHE", value)
    assert default_cache() is None


@pytest.mark.parametrize("value", ["read-only", "readonly", "Read_Only"])
def test_environment_makes_it_read_only(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, value: str
) -> None:
    monkeypatch.setenv("PTERON_CACHE", value)
    monkeypatch.setenv("PTERON_CACHE_DIR", str(tmp_path))
    cache = default_cache()
    assert isinstance(cache, DirectoryCache)
    with pytest.raises(CacheError, match="may not be changed"):
        cache.purge()
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("name", "value"), [("PTERON_CACHE", "maybe"), ("PTERON_CACHE_SIZE", "plenty")]
)
def test_bad_values_are_told(monkeypatch: pytest.MonkeyPatch, name: str, value: str) -> None:
    monkeypatch.setenv(name, value)
    with pytest.raises(UsageError, match=value):
        default_cache()


def test_bad_mode_names_those_there_are(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTERON_CACHE", "maybe")
    with pytest.raises(UsageError, match="on, off or read-only"):
        default_cache()


def test_chosen_cache_wins(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PTERON_CACHE", "off")
    chosen = MemoryCache()
    set_default_cache(chosen)
    assert default_cache() is chosen
    set_default_cache(None)
    assert default_cache() is None


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("0", 0),
        ("1500", 1500),
        ("2K", 2048),
        ("1.5M", 3 << 19),
        ("10 GiB", 10 << 30),
        ("1tb", 1 << 40),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert parse_size(text) == size


@pytest.mark.parametrize(
    ("text", "seconds"), [("90", 90), ("45m", 2700), ("1.5h", 5400), ("30 d", 2_592_000)]
)
def test_ages(text: str, seconds: float) -> None:
    assert parse_age(text) == seconds


@pytest.mark.parametrize("text", ["", "soon", "-1d", "1y"])
def test_what_is_no_age_is_told(text: str) -> None:
    with pytest.raises(UsageError, match="is not an age"):
        parse_age(text)


def test_remote_from_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PTERON_CACHE_DIR", str(tmp_path / "local"))
    (tmp_path / "remote").mkdir()
    monkeypatch.setenv("PTERON_CACHE_REMOTE", (tmp_path / "remote").as_uri())
    with pytest.raises(UsageError, match="PTERON_CACHE_KEY"):
        default_cache()
    monkeypatch.setenv("PTERON_CACHE_KEY", "hmac-sha256:" + "5a" * 32)
    cache = default_cache()
    assert isinstance(cache, TieredCache)
    assert not cache.remote.read_only


@pytest.mark.parametrize("url", ["file:///missing/store", "nonsense://bucket", "no url"])
def test_remote_that_cannot_be_opened_costs_a_warning(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("PTERON_CACHE_DIR", str(tmp_path / "local"))
    monkeypatch.setenv("PTERON_CACHE_REMOTE", url)
    monkeypatch.setenv("PTERON_CACHE_KEY", "hmac-sha256:" + "5a" * 32)
    assert isinstance(default_cache(), DirectoryCache)
    assert f"cannot use {url}" in caplog.text
    assert "without the shared cache of PTERON_CACHE_REMOTE" in caplog.text


def test_importing_it_stays_light() -> None:
    code = "import sys, pteron.cache; print(*sys.modules)"
    modules = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True).stdout
    heavy = {"numpy", "openvino", "torch", "obstore", "cryptography", "xxhash", "platformdirs"}
    assert not heavy & set(modules.split())
