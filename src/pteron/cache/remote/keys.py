"""Keys that authenticate entries: Ed25519 for one trusted writer, or a secret that all share."""

from __future__ import annotations

import hashlib
import hmac
import os
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from pteron.errors import FileAccessError, MissingExtraError, UsageError

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import (
        Ed25519PrivateKey,
        Ed25519PublicKey,
    )

_SECRET_PREFIX = "hmac-sha256:"
_SHORTEST_SECRET = 32


class SigningKey(Protocol):
    """Signs entries, or only verifies them."""

    algorithm: str
    """Name that a signature carries; one that names another algorithm is wrong."""

    @property
    def can_sign(self) -> bool:
        """False for a public key: a cache with it reads only."""
        ...

    def sign(self, message: bytes) -> bytes:
        """Signature of a message. Raises UsageError if this key can only verify."""
        ...

    def verify(self, signature: bytes, message: bytes) -> bool:
        """Whether the signature is one of this message by this key."""
        ...


class Ed25519Key:
    """A key pair, or its public half: one writer signs, and any number of readers verify.

    Keys are PEM files as ``openssl genpkey -algorithm ed25519`` and ``openssl pkey -pubout``
    write them.
    """

    algorithm = "ed25519"

    def __init__(self, public: Ed25519PublicKey, private: Ed25519PrivateKey | None = None) -> None:
        self._public = public
        self._private = private

    @classmethod
    def generate(cls) -> Ed25519Key:
        """A new key pair."""
        try:
            from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
        except ImportError as error:
            raise MissingExtraError("signing compiled models", "remote") from error
        private = Ed25519PrivateKey.generate()
        return cls(private.public_key(), private)

    @classmethod
    def from_pem(cls, pem: bytes) -> Ed25519Key:
        """Read a private or a public key. Raises UsageError if it is neither, or encrypted."""
        try:
            from cryptography.hazmat.primitives import serialization
            from cryptography.hazmat.primitives.asymmetric import ed25519
        except ImportError as error:
            raise MissingExtraError("verifying compiled models", "remote") from error
        try:
            if b"PRIVATE" in pem:
                private = serialization.load_pem_private_key(pem, password=None)
                if isinstance(private, ed25519.Ed25519PrivateKey):
                    return cls(private.public_key(), private)
            else:
                public = serialization.load_pem_public_key(pem)
                if isinstance(public, ed25519.Ed25519PublicKey):
                    return cls(public)
        except (ValueError, TypeError) as error:
            raise UsageError(f"not an unencrypted PEM key: {error}") from error
        raise UsageError("not an Ed25519 key; openssl genpkey -algorithm ed25519 makes one")

    @property
    def can_sign(self) -> bool:
        """See :class:`SigningKey`."""
        return self._private is not None

    def public(self) -> Ed25519Key:
        """The half that readers get."""
        return Ed25519Key(self._public)

    def to_pem(self) -> bytes:
        """The private key if there is one (keep it secret), else the public one."""
        from cryptography.hazmat.primitives import serialization as form

        if self._private is None:
            return self._public.public_bytes(
                form.Encoding.PEM, form.PublicFormat.SubjectPublicKeyInfo
            )
        return self._private.private_bytes(
            form.Encoding.PEM, form.PrivateFormat.PKCS8, form.NoEncryption()
        )

    def sign(self, message: bytes) -> bytes:
        """See :class:`SigningKey`."""
        if self._private is None:
            raise UsageError("a public key verifies entries, and cannot sign them")
        return self._private.sign(message)

    def verify(self, signature: bytes, message: bytes) -> bool:
        """See :class:`SigningKey`."""
        from cryptography.exceptions import InvalidSignature

        try:
            self._public.verify(signature, message)
        except InvalidSignature:
            return False
        return True


class SharedSecret:
    """A secret of at least 32 bytes: whoever has it reads and writes (HMAC-SHA-256)."""

    algorithm = "hmac-sha256"
    can_sign = True

    def __init__(self, secret: bytes) -> None:
        if len(secret) < _SHORTEST_SECRET:
            raise UsageError(f"a shared secret has at least {_SHORTEST_SECRET} bytes")
        self._secret = secret

    def sign(self, message: bytes) -> bytes:
        """See :class:`SigningKey`."""
        return hmac.digest(self._secret, message, hashlib.sha256)

    def verify(self, signature: bytes, message: bytes) -> bool:
        """See :class:`SigningKey`."""
        return hmac.compare_digest(signature, self.sign(message))


def parse_key(text: str) -> SigningKey:
    """Read a key: an Ed25519 key in PEM, or ``hmac-sha256:`` and a secret in hex digits.

    Raises:
        UsageError: it is neither.
    """
    text = text.strip()
    if text.startswith("-----BEGIN"):
        return Ed25519Key.from_pem(text.encode())
    if not text.startswith(_SECRET_PREFIX):
        raise UsageError(f"a cache key is a PEM file, or {_SECRET_PREFIX} and hex digits")
    try:
        return SharedSecret(bytes.fromhex(text.removeprefix(_SECRET_PREFIX)))
    except ValueError as error:
        raise UsageError(f"a shared secret is hex digits: {error}") from error


def read_key(path: str | Path) -> SigningKey:
    """Read a key from a file, as :func:`parse_key` does."""
    try:
        return parse_key(Path(path).read_text("ascii"))
    except (OSError, UnicodeDecodeError) as error:
        raise FileAccessError(f"cannot read the cache key {path}: {error}") from error


def key_from_environment() -> SigningKey:
    """The key in ``PTERON_CACHE_KEY``, or in the file that ``PTERON_CACHE_KEY_FILE`` names.

    Raises:
        UsageError: neither is set, or what is there is no key.
    """
    if text := os.environ.get("PTERON_CACHE_KEY"):
        return parse_key(text)
    if path := os.environ.get("PTERON_CACHE_KEY_FILE"):
        return read_key(path)
    raise UsageError("set PTERON_CACHE_KEY or PTERON_CACHE_KEY_FILE: shared entries are signed")
