"""Compile once: keeps engines' compiled models, and never serves a wrong or broken one."""

from __future__ import annotations

from pteron.cache.default import default_cache, reset_default_cache, set_default_cache
from pteron.cache.directory import DirectoryCache
from pteron.cache.entry import Entry
from pteron.cache.evict import Limits
from pteron.cache.key import CacheKey
from pteron.cache.manifest import FileRecord, Manifest
from pteron.cache.memory import MemoryCache
from pteron.cache.protocol import CompiledModelCache
from pteron.cache.statistics import Statistics
from pteron.cache.through import Loaded, load_through
from pteron.cache.tiered import TieredCache

__all__ = [
    "CacheKey",
    "CompiledModelCache",
    "DirectoryCache",
    "Entry",
    "FileRecord",
    "Limits",
    "Loaded",
    "Manifest",
    "MemoryCache",
    "Statistics",
    "TieredCache",
    "default_cache",
    "load_through",
    "reset_default_cache",
    "set_default_cache",
]
