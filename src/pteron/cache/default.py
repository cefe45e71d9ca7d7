"""The cache that loads use unless they are told otherwise."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from pathlib import Path

from pteron.cache.directory import DEFAULT_MAX_BYTES, DirectoryCache
from pteron.cache.protocol import CompiledModelCache
from pteron.errors import UsageError

_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE | re.ASCII)
_FROM_ENVIRONMENT = object()

_chosen: object = _FROM_ENVIRONMENT


def default_cache() -> CompiledModelCache | None:
    """The process-wide cache; None if caching is off.

    Unless :func:`set_default_cache` chose another it is a :class:`DirectoryCache` in the user's
    own cache directory, and the environment has its say: ``PTERON_CACHE_DIR`` (path),
    ``PTERON_CACHE_SIZE`` (byte quota: ``500M``, ``10GiB``) and ``PTERON_CACHE`` (``on``,
    ``off`` or ``read-only``).

    Raises:
        UsageError: a variable's value is not one of these.
    """
    if _chosen is not _FROM_ENVIRONMENT:
        return _chosen  # type: ignore[return-value]
    variables = ("PTERON_CACHE", "PTERON_CACHE_DIR", "PTERON_CACHE_SIZE")
    return _from_environment(*(os.environ.get(name, "").strip() for name in variables))


def set_default_cache(cache: CompiledModelCache | None) -> None:
    """Choose the process-wide cache; None turns caching off."""
    global _chosen
    _chosen = cache


def reset_default_cache() -> None:
    """Undo :func:`set_default_cache`."""
    global _chosen
    _chosen = _FROM_ENVIRONMENT


def parse_size(text: str) -> int:
    """Bytes in ``1500``, ``500M``, ``10GiB`` (K, M, G and T are powers of 1024).

    Raises:
        UsageError: the text is not a size.
    """
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise UsageError(f"{text!r} is not a size; write a number of bytes, or 500M, 10G, 1.5T")
    return int(float(match[1]) * _UNITS[match[2].upper()])


@lru_cache(maxsize=8)
def _from_environment(mode: str, directory: str, size: str) -> DirectoryCache | None:
    if mode not in ("", "on", "off", "read-only"):
        raise UsageError(f"PTERON_CACHE is {mode!r}; it may be on, off or read-only")
    if mode == "off":
        return None
    return DirectoryCache(
        Path(directory) if directory else user_cache_path(),
        max_bytes=parse_size(size) if size else DEFAULT_MAX_BYTES,
        read_only=mode == "read-only",
    )


def user_cache_path() -> Path:
    """Where compiled models go by default: in the user's own cache directory."""
    import platformdirs

    return platformdirs.user_cache_path("pteron") / "compiled"
