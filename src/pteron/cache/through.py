"""Loads a compiled model through a cache: the one way engines' products are cached."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Generic, TypeVar

from pteron.cache.entry import Entry
from pteron.cache.key import CacheKey
from pteron.cache.privately import compile_privately
from pteron.cache.protocol import Compile, CompiledModelCache
from pteron.errors import CacheError

T = TypeVar("T")

logger = logging.getLogger("pteron.cache")


@dataclass(frozen=True)
class Loaded(Generic[T]):
    """What ``load`` made of a compiled model.

    Attributes:
        value: what ``load`` returned.
        entry: the compiled model; it is held, so its files stay, until :meth:`close`.
    """

    value: T
    entry: Entry

    @property
    def hit(self) -> bool:
        """Whether the compiled model came from the cache."""
        return self.entry.hit

    def close(self) -> None:
        """Give up the files. Without a call they are given up when this object goes."""
        self.entry.close()


def load_through(
    cache: CompiledModelCache | None,
    key: CacheKey,
    compile: Compile,
    load: Callable[[Path], T],
) -> Loaded[T]:
    """Load the compiled model of a key from the cache, or compile, store and load it.

    A cache that fails (full, read-only, not ours) costs a warning, not the run: the compile then
    goes through a private temporary directory. So does every one if ``cache`` is None. An entry
    that cannot be loaded is removed and compiled anew, once; what ``load`` raises on a model that
    was compiled just now, and what ``compile`` raises, is the engine's error and passes through.
    """
    entry = _obtain(cache, key, compile)
    if not entry.hit:
        return _load(entry, load)
    try:
        return Loaded(load(entry.path), entry)
    except Exception as error:
        usable = _condemn(entry, error)
    return _load(_obtain(cache if usable else None, key, compile), load)


def _obtain(cache: CompiledModelCache | None, key: CacheKey, compile: Compile) -> Entry:
    if cache is not None:
        try:
            return cache.get_or_compile(key, compile)
        except CacheError as error:
            logger.warning("compiling without a cache: %s", error)
    return compile_privately(key, compile)


def _load(entry: Entry, load: Callable[[Path], T]) -> Loaded[T]:
    try:
        return Loaded(load(entry.path), entry)
    except BaseException:
        entry.close()
        raise


def _condemn(entry: Entry, error: Exception) -> bool:
    """Take an entry that cannot be loaded out of its cache; False if it is still in there."""
    with entry:
        reason = entry.damage() or f"its files are whole, but: {error}"
    try:
        return entry.condemn(reason)
    except CacheError as failure:
        logger.warning("compiling without a cache: %s", failure)
        return False
