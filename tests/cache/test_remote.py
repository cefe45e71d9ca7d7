"""A cache in a real S3 API, which fails in every way it can."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path

import boto3
import obstore
import pytest

from pteron.cache import CacheKey, DirectoryCache, TieredCache, load_through
from pteron.cache.remote import Ed25519Key, ObjectStoreCache, SharedSecret, SigningKey
from pteron.cache.testing import FILES, KEY, CacheContract, read_files, write_files
from pteron.errors import CacheError, CacheErrorCode
from tests.cache import s3
from tests.cache.s3 import S3Server

SECRET = SharedSecret(b"a secret of thirty-two bytes or more")
PAIR = Ed25519Key.generate()


@pytest.fixture(scope="module")
def running() -> Iterator[S3Server]:
    with S3Server().running() as server:
        yield server


@pytest.fixture
def server(running: S3Server) -> S3Server:
    """The server with an empty bucket, and no fault."""
    running.fault = None
    client = boto3.client(
        "s3",
        endpoint_url=running.url,
        region_name="us-east-1",
        aws_access_key_id="key",
        aws_secret_access_key="secret",
    )
    client.create_bucket(Bucket="models")
    for found in client.list_objects_v2(Bucket="models").get("Contents", []):
        client.delete_object(Bucket="models", Key=found["Key"])
    running.requests.clear()
    return running


@pytest.fixture
def remote(server: S3Server) -> ObjectStoreCache:
    return ObjectStoreCache(server.store(), PAIR)


@pytest.fixture
def tiered(server: S3Server, tmp_path: Path) -> Iterator[TieredCache]:
    cache = TieredCache(DirectoryCache(tmp_path / "cache"), ObjectStoreCache(server.store(), PAIR))
    yield cache
    cache.flush(30)  # a late upload would end in the next test's bucket


def compile(directory: Path) -> None:
    write_files(directory)


def names(server: S3Server) -> list[str]:
    return sorted(entry["path"] for batch in obstore.list(server.store()) for entry in batch)


class TestContract(CacheContract):
    @pytest.fixture
    def cache(self, remote: ObjectStoreCache) -> ObjectStoreCache:
        return remote


class TestTieredContract(CacheContract):
    @pytest.fixture
    def cache(self, tiered: TieredCache) -> TieredCache:
        return tiered


def test_an_entry_is_two_objects(remote: ObjectStoreCache, server: S3Server) -> None:
    remote.get_or_compile(KEY, compile).close()
    entry, blob = names(server)[1], names(server)[0]
    assert entry == f"v1/entries/{KEY.identifier}"
    assert blob.startswith(f"v1/blobs/{KEY.identifier}/")


def test_replacing_and_removing_leave_no_blobs(
    remote: ObjectStoreCache, server: S3Server, tmp_path: Path
) -> None:
    for number in range(3):
        remote.store("entry", write_files(tmp_path / str(number), {"n": b"%d" % number})).close()
        assert len(names(server)) == 2
    remote.remove("entry")
    assert names(server) == []


def test_large_entries_go_in_parts(remote: ObjectStoreCache, tmp_path: Path) -> None:
    files = {"a": b"a" * (11 << 20), "b": b"b" * (3 << 20)}
    remote.store("large", write_files(tmp_path / "large", files)).close()
    with remote.find("large") as entry:
        assert read_files(entry.path) == files


def test_first_of_two_writers_wins(server: S3Server, tmp_path: Path) -> None:
    def write(number: int) -> None:
        cache = ObjectStoreCache(server.store(), PAIR)
        source = write_files(tmp_path / str(number), {"a": b"%d" % number, "b": b"%d" % number})
        cache.store("entry", source).close()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(write, range(6)))
    with ObjectStoreCache(server.store(), PAIR).find("entry") as entry:
        files = read_files(entry.path)
    assert files["a"] == files["b"]
    assert len(names(server)) == 2


def test_reader_with_the_public_key_stores_nothing(server: S3Server) -> None:
    reader = ObjectStoreCache(server.store(), PAIR.public())
    with reader.get_or_compile(KEY, compile) as entry:
        assert not entry.hit
    assert names(server) == []
    with pytest.raises(CacheError, match="only verifies"):
        reader.remove("entry")
    ObjectStoreCache(server.store(), PAIR).get_or_compile(KEY, compile).close()
    with reader.get_or_compile(KEY, compile) as entry:
        assert entry.hit
        assert read_files(entry.path) == FILES


# Authentication: each way to get a model in without the key is a miss, and is told.


def tamper(server: S3Server, change: object) -> None:
    """Change the entry's object as someone could who can write to the bucket."""
    path = f"v1/entries/{KEY.identifier}"
    sealed = bytes(obstore.get(server.store(), path).bytes())
    obstore.put(server.store(), path, change(sealed))  # type: ignore[operator]


def forge(sealed: bytes) -> bytes:
    line, text = sealed.split(b"\n", 1)
    return line + b"\n" + json.dumps({**json.loads(text), "sha256": "0" * 64}).encode()


@pytest.mark.parametrize(
    "change",
    [
        forge,
        lambda sealed: sealed.split(b"\n", 1)[1],
        lambda sealed: b"none \n" + sealed.split(b"\n", 1)[1],
        lambda sealed: b"hmac-sha256" + sealed[sealed.index(b" ") :],
        lambda sealed: sealed[:-1],
        lambda sealed: b"",
        lambda sealed: b"\xff" * 100,
    ],
)
def test_entry_without_a_right_signature_is_a_miss(
    remote: ObjectStoreCache, server: S3Server, change: object, caplog: pytest.LogCaptureFixture
) -> None:
    remote.get_or_compile(KEY, compile).close()
    tamper(server, change)
    assert remote.find(KEY.identifier) is None
    assert "is not used: it is not signed" in caplog.text
    with remote.get_or_compile(KEY, compile) as entry:  # a writer puts it right
        assert not entry.hit
    assert remote.find(KEY.identifier) is not None


@pytest.mark.parametrize("other", [Ed25519Key.generate(), SECRET])
def test_entry_of_another_key_is_a_miss(server: S3Server, other: SigningKey) -> None:
    ObjectStoreCache(server.store(), other).get_or_compile(KEY, compile).close()
    assert ObjectStoreCache(server.store(), PAIR).find(KEY.identifier) is None


def test_signed_entry_cannot_stand_for_another(remote: ObjectStoreCache, server: S3Server) -> None:
    other = CacheKey("other", "engine", "1")
    remote.get_or_compile(other, compile).close()
    remote.get_or_compile(KEY, compile).close()
    moved = bytes(obstore.get(server.store(), f"v1/entries/{other.identifier}").bytes())
    tamper(server, lambda _: moved)
    assert remote.find(KEY.identifier) is None


BAD_FIELDS = {
    "path that leads out": {"files": [("../outside", 1)]},
    "absolute path": {"files": [("/outside", 1)]},
    "path of the directory itself": {"files": [(".", 1)]},
    "empty path": {"files": [("", 1)]},
    "lone surrogate": {"files": [("\udc80", 1)]},
    "long name": {"files": [("x" * 256, 1)]},
    "same path twice": {"files": [("x", 1), ("x", 1)]},
    "file as directory": {"files": [("x", 1), ("x/y", 1)]},
    "directory as file": {"files": [("x/y", 1), ("x", 1)]},
    "negative size": {"files": [("x", -5)]},
    "size of another type": {"files": [("x", 1.5)]},
    "digest that leads out": {"sha256": "../" * 5},
    "key of another type": {"key": "text"},
    "time of another type": {"created": "soon"},
    "no duration": {"compile_seconds": -1.0},
}


@pytest.mark.parametrize("name", BAD_FIELDS)
def test_signed_nonsense_is_a_miss(
    remote: ObjectStoreCache, server: S3Server, name: str, caplog: pytest.LogCaptureFixture
) -> None:
    from pteron.cache.remote.sealed import Description, seal

    good = Description(KEY.identifier, "0" * 64, [("x", 1)], {}, 0.0, 0.0)
    remote.get_or_compile(KEY, compile).close()
    tamper(server, lambda _: seal(replace(good, **BAD_FIELDS[name]), PAIR))
    assert remote.find(KEY.identifier) is None
    assert "description cannot be read" in caplog.text


def test_oversized_entry_is_a_miss_and_no_failure(
    tiered: TieredCache, server: S3Server, caplog: pytest.LogCaptureFixture
) -> None:
    obstore.put(server.store(), f"v1/entries/{KEY.identifier}", bytes((16 << 20) + 1))
    other = CacheKey("other", "engine", "1")
    ObjectStoreCache(server.store(), PAIR).get_or_compile(other, compile).close()
    assert tiered.find(KEY.identifier) is None
    assert "it is not signed" in caplog.text
    assert tiered.find(other.identifier) is not None
    tiered.get_or_compile(KEY, compile).close()  # a writer puts it right
    assert tiered.flush(20)
    assert tiered.remote.find(KEY.identifier) is not None


def test_missing_blob_is_a_miss(remote: ObjectStoreCache, server: S3Server) -> None:
    remote.get_or_compile(KEY, compile).close()
    obstore.delete(server.store(), names(server)[0])
    assert remote.find(KEY.identifier) is None


# Failures of the network and of the server.


def test_blob_that_is_not_what_was_signed_is_a_miss(
    remote: ObjectStoreCache, server: S3Server, caplog: pytest.LogCaptureFixture
) -> None:
    remote.get_or_compile(KEY, compile).close()
    server.fault = s3.wrong_digest
    assert remote.find(KEY.identifier) is None
    assert "not what was signed" in caplog.text


FAULTS = {
    "500": s3.internal_error,
    "expired credentials": s3.expired,
    "forbidden": s3.forbidden,
    "stall": s3.stall,
    "truncated body": s3.truncated_body,
    "stalled body": s3.stalled_body,
}


@pytest.mark.parametrize("name", FAULTS)
def test_failing_store_is_an_io_error_in_bounded_time(
    remote: ObjectStoreCache, server: S3Server, name: str
) -> None:
    remote.get_or_compile(KEY, compile).close()
    server.fault = FAULTS[name]
    started = time.monotonic()
    with pytest.raises(CacheError) as raised:
        remote.find(KEY.identifier)
    assert raised.value.code is CacheErrorCode.IO_ERROR
    assert "\n" not in str(raised.value)
    assert time.monotonic() - started < 15


@pytest.mark.parametrize("name", [*FAULTS, "wrong digest"])
def test_failing_remote_never_fails_a_run(
    server: S3Server,
    tmp_path: Path,
    name: str,
    caplog: pytest.LogCaptureFixture,
) -> None:
    ObjectStoreCache(server.store(), PAIR).get_or_compile(KEY, compile).close()
    server.fault = FAULTS.get(name, s3.wrong_digest)
    cache = TieredCache(
        DirectoryCache(tmp_path / "cache"), ObjectStoreCache(server.store(), PAIR), patience=1
    )
    loaded = load_through(cache, KEY, compile, read_files)
    assert (loaded.value, loaded.hit) == (FILES, False)
    assert "shared" in caplog.text
    asked = len(server.requests)
    other = CacheKey("other", "engine", "1")
    assert load_through(cache, other, compile, read_files).value == FILES
    if name != "wrong digest":
        assert len(server.requests) == asked, "a store that fails is left alone for a while"
    assert cache.flush(10)


def test_dripping_body_is_given_up_in_time(
    server: S3Server, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    ObjectStoreCache(server.store(), PAIR).get_or_compile(KEY, compile).close()
    server.fault = s3.dripping_body  # 4 kB/s: all of it would take four seconds
    remote = ObjectStoreCache(server.store(), PAIR, patience=1)
    cache = TieredCache(DirectoryCache(tmp_path / "cache"), remote, patience=1)
    started = time.monotonic()
    loaded = load_through(cache, KEY, compile, read_files)
    assert time.monotonic() - started < 3
    assert (loaded.value, loaded.hit) == (FILES, False)
    assert "takes longer than 1 seconds" in caplog.text


@pytest.mark.parametrize("value", ["true", "1"])
def test_plain_http_is_used_if_the_environment_allows_it(
    server: S3Server, monkeypatch: pytest.MonkeyPatch, value: str
) -> None:
    for name, setting in {
        "AWS_ENDPOINT": server.url,
        "AWS_REGION": "us-east-1",
        "AWS_ACCESS_KEY_ID": "key",
        "AWS_SECRET_ACCESS_KEY": "secret",
        "AWS_ALLOW_HTTP": value,
    }.items():
        monkeypatch.setenv(name, setting)
    cache = ObjectStoreCache.from_url("s3://models/team", PAIR)
    cache.get_or_compile(KEY, compile).close()
    assert cache.find(KEY.identifier) is not None
    assert len(names(server)) == 2


def test_unreachable_store_fails_no_run(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    stopped = S3Server()
    with stopped.running():
        pass
    cache = TieredCache(DirectoryCache(tmp_path / "cache"), ObjectStoreCache(stopped.store(), PAIR))
    assert load_through(cache, KEY, compile, read_files).value == FILES
    assert "left alone" in caplog.text


# Two tiers.


def test_machines_share_what_one_compiled(server: S3Server, tmp_path: Path) -> None:
    def machine(name: str) -> TieredCache:
        return TieredCache(DirectoryCache(tmp_path / name), ObjectStoreCache(server.store(), PAIR))

    first, second = machine("first"), machine("second")
    assert not load_through(first, KEY, compile, read_files).hit
    assert first.flush(10)
    loaded = load_through(second, KEY, compile, read_files)
    assert (loaded.value, loaded.hit) == (FILES, True)
    server.requests.clear()
    assert load_through(second, KEY, compile, read_files).hit
    assert server.requests == []  # the local cache has it now


def test_find_fills_the_local_cache(tiered: TieredCache) -> None:
    tiered.remote.get_or_compile(KEY, compile).close()
    assert tiered.local.find(KEY.identifier) is None
    with tiered.find(KEY.identifier) as entry:
        assert entry.hit
        assert read_files(entry.path) == FILES
    assert tiered.local.find(KEY.identifier) is not None


def test_shared_entry_that_cannot_be_loaded_is_recompiled_and_replaced(
    tiered: TieredCache, tmp_path: Path
) -> None:
    bad = write_files(tmp_path / "bad", {"model.xml": b"of another world"})
    tiered.remote.store(KEY.identifier, bad).close()

    def load(directory: Path) -> dict[str, bytes]:
        files = read_files(directory)
        if files != FILES:
            raise RuntimeError("cannot be imported")
        return files

    loaded = load_through(tiered, KEY, compile, load)
    assert (loaded.value, loaded.hit) == (FILES, False)
    assert tiered.flush(10)
    with tiered.remote.find(KEY.identifier) as entry:
        assert read_files(entry.path) == FILES


def test_upload_does_not_delay_the_run(server: S3Server, tiered: TieredCache) -> None:
    server.fault = lambda environ, start, server: (
        s3.stall(environ, start, server) if environ["REQUEST_METHOD"] == "PUT" else None
    )
    started = time.monotonic()
    assert load_through(tiered, KEY, compile, read_files).value == FILES
    assert time.monotonic() - started < 1
    assert not tiered.flush(0)
    assert tiered.flush(20)


def test_url_of_no_store_is_told() -> None:
    with pytest.raises(CacheError) as raised:
        ObjectStoreCache.from_url("nonsense://bucket", PAIR)
    assert raised.value.code is CacheErrorCode.INITIALIZATION_FAILED


def test_directory_url(tmp_path: Path) -> None:
    cache = ObjectStoreCache.from_url(tmp_path.as_uri(), PAIR)
    cache.get_or_compile(KEY, compile).close()
    assert ObjectStoreCache.from_url(tmp_path.as_uri(), PAIR).find(KEY.identifier) is not None
