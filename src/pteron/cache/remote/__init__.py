"""Shares compiled models over machines, through an object store that exists already.

Compiled models are code, so entries are signed, and one without a right signature is never used.
Needs the extra ``remote`` (obstore, cryptography).
"""

from __future__ import annotations

from pteron.cache.remote.cache import ObjectStoreCache
from pteron.cache.remote.keys import (
    Ed25519Key,
    SharedSecret,
    SigningKey,
    key_from_environment,
    parse_key,
    read_key,
)

__all__ = [
    "Ed25519Key",
    "ObjectStoreCache",
    "SharedSecret",
    "SigningKey",
    "key_from_environment",
    "parse_key",
    "read_key",
]
