"""Identifiers from keys, and the keys that sign."""

from __future__ import annotations

import shutil
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from pteron.cache import CacheKey
from pteron.cache.remote import (
    Ed25519Key,
    SharedSecret,
    key_from_environment,
    parse_key,
    read_key,
)
from pteron.errors import FileAccessError, UsageError

KEY = CacheKey("aa", "openvino", "2026.4", {"cpu": "avx2", "os": "linux"}, {"precision": "model"})


@pytest.mark.parametrize(
    "change",
    [
        {"payload_digest": "ab"},
        {"engine": "coreml"},
        {"engine_version": "2026.5"},
        {"device_features": {"cpu": "avx512", "os": "linux"}},
        {"device_features": {"cpu": "avx2"}},
        {"options": {"precision": "f32"}},
        {"options": {}},
    ],
)
def test_every_part_counts(change: dict[str, object]) -> None:
    assert replace(KEY, **change).identifier != KEY.identifier


def test_parts_do_not_run_into_each_other() -> None:
    assert CacheKey("a", "bc", "d").identifier != CacheKey("ab", "c", "d").identifier
    assert (
        CacheKey("a", "b", "c", {"x": "y"}, {}).identifier
        != CacheKey("a", "b", "c", {}, {"x": "y"}).identifier
    )


def test_order_of_parts_does_not_count() -> None:
    turned = replace(KEY, device_features={"os": "linux", "cpu": "avx2"})
    assert turned.identifier == KEY.identifier


def test_openssl_makes_keys_for_it(tmp_path: Path) -> None:
    private, public = tmp_path / "private.pem", tmp_path / "public.pem"
    if not shutil.which("openssl"):
        pytest.skip("openssl is not installed")
    for command in (
        ["genpkey", "-algorithm", "ed25519", "-out", private],
        ["pkey", "-in", private, "-pubout", "-out", public],
    ):
        subprocess.run(["openssl", *map(str, command)], check=True, capture_output=True)
    signer, reader = read_key(private), read_key(public)
    assert signer.can_sign and not reader.can_sign
    signature = signer.sign(b"message")
    assert reader.verify(signature, b"message")
    assert not reader.verify(signature, b"massage")
    assert not reader.verify(b"", b"message")
    with pytest.raises(UsageError, match="cannot sign"):
        reader.sign(b"message")


def test_pem_round_trip() -> None:
    key = Ed25519Key.generate()
    again = parse_key(key.to_pem().decode())
    assert key.public().verify(again.sign(b"m"), b"m")
    assert not parse_key(key.public().to_pem().decode()).can_sign


def test_shared_secret() -> None:
    key = parse_key("hmac-sha256:" + "ab" * 32)
    assert SharedSecret(b"\xab" * 32).verify(key.sign(b"m"), b"m")
    assert not SharedSecret(b"\xac" * 32).verify(key.sign(b"m"), b"m")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "hex digits"),
        ("password", "hex digits"),
        ("hmac-sha256:xyz", "hex digits"),
        ("hmac-sha256:abcd", "at least 32 bytes"),
        ("-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----", "PEM"),
        ("-----BEGIN PUBLIC KEY-----", "PEM"),
    ],
)
def test_bad_keys_are_told(text: str, why: str) -> None:
    with pytest.raises(UsageError, match=why):
        parse_key(text)


def test_key_of_another_kind_is_told() -> None:
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey

    pem = X25519PrivateKey.generate().private_bytes(
        serialization.Encoding.PEM,
        serialization.PrivateFormat.PKCS8,
        serialization.NoEncryption(),
    )
    with pytest.raises(UsageError, match="not an Ed25519 key"):
        parse_key(pem.decode())


def test_key_from_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("PTERON_CACHE_KEY", "PTERON_CACHE_KEY_FILE"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(UsageError, match="PTERON_CACHE_KEY"):
        key_from_environment()
    monkeypatch.setenv("PTERON_CACHE_KEY_FILE", str(tmp_path / "key"))
    with pytest.raises(FileAccessError, match="cannot read"):
        key_from_environment()
    (tmp_path / "key").write_text("hmac-sha256:" + "ab" * 32 + "\n")
    assert key_from_environment().algorithm == "hmac-sha256"
    monkeypatch.setenv("PTERON_CACHE_KEY", Ed25519Key.generate().to_pem().decode())
    assert key_from_environment().algorithm == "ed25519"
