"""The cache that loads use unless they are told otherwise."""

from __future__ import annotations

import logging
import os
from functools import lru_cache
from pathlib import Path

from pteron.cache.directory import DEFAULT_MAX_BYTES, DirectoryCache
from pteron.cache.protocol import CompiledModelCache
from pteron.cache.tiered import TieredCache
from pteron.cache.units import parse_size
from pteron.errors import CacheError, UsageError

_FROM_ENVIRONMENT = object()
_MODES = {
    **dict.fromkeys(("", "on", "1", "true", "yes"), "on"),
    **dict.fromkeys(("off", "0", "false", "no"), "off"),
    **dict.fromkeys(("read-only", "readonly", "read_only"), "read-only"),
}

logger = logging.getLogger("pteron.cache")

_chosen: object = _FROM_ENVIRONMENT


def default_cache() -> CompiledModelCache | None:
    """The process-wide cache; None if caching is off.

    Unless :func:`set_default_cache` chose another it is a :class:`DirectoryCache` in the user's
    own cache directory, and the environment has its say:

    - ``PTERON_CACHE``: ``on``, ``off`` or ``read-only`` (in any case; ``1`` and ``0`` do, too)
    - ``PTERON_CACHE_DIR``: the directory
    - ``PTERON_CACHE_SIZE``: byte quota, as ``500M`` or ``10GiB``
    - ``PTERON_CACHE_REMOTE``: URL of an object store to share compiled models through
      (:meth:`pteron.cache.remote.ObjectStoreCache.from_url`), with the key in
      ``PTERON_CACHE_KEY`` or ``PTERON_CACHE_KEY_FILE``; one that cannot be opened costs a
      warning

    Raises:
        UsageError: a variable's value is not one of these.
    """
    if _chosen is not _FROM_ENVIRONMENT:
        return _chosen  # type: ignore[return-value]
    if _mode() == "off":
        return None
    url = _variable("PTERON_CACHE_REMOTE")
    return _tiered(default_directory(), url) if url else default_directory()


def default_directory() -> DirectoryCache:
    """The cache directory that the environment chooses, whether or not caching is on."""
    return _directory(
        _variable("PTERON_CACHE_DIR"), _variable("PTERON_CACHE_SIZE"), _mode() == "read-only"
    )


def set_default_cache(cache: CompiledModelCache | None) -> None:
    """Choose the process-wide cache; None turns caching off."""
    global _chosen
    _chosen = cache


def reset_default_cache() -> None:
    """Undo :func:`set_default_cache`."""
    global _chosen
    _chosen = _FROM_ENVIRONMENT


def user_cache_path() -> Path:
    """Where compiled models go by default: in the user's own cache directory."""
    import platformdirs

    return platformdirs.user_cache_path("pteron") / "compiled"


def _variable(name: str) -> str:
    return os.environ.get(name, "").strip()


def _mode() -> str:
    value = _variable("PTERON_CACHE")
    mode = _MODES.get(value.lower())
    if mode is None:
        raise UsageError(f"PTERON_CACHE is {value!r}; it may be on, off or read-only")
    return mode


@lru_cache(maxsize=8)
def _directory(path: str, size: str, read_only: bool) -> DirectoryCache:
    return DirectoryCache(
        Path(path) if path else user_cache_path(),
        max_bytes=parse_size(size) if size else DEFAULT_MAX_BYTES,
        read_only=read_only,
    )


@lru_cache(maxsize=8)
def _tiered(local: DirectoryCache, url: str) -> CompiledModelCache:
    from pteron.cache.remote import ObjectStoreCache, key_from_environment

    key = key_from_environment()
    try:
        return TieredCache(local, ObjectStoreCache.from_url(url, key))
    except CacheError as error:
        logger.warning("going on without the shared cache of PTERON_CACHE_REMOTE: %s", error)
        return local
