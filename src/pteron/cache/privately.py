"""Compiles without a cache, into a directory that goes when the compiled model does."""

from __future__ import annotations

import tempfile
from pathlib import Path

from pteron.cache.entry import Entry
from pteron.cache.failures import full_disk, io_errors
from pteron.cache.key import CacheKey
from pteron.cache.manifest import Manifest
from pteron.cache.protocol import Compile


def compile_privately(key: CacheKey, compile: Compile) -> Entry:
    """Compile into a private temporary directory, which closing the entry removes."""
    with io_errors("make a temporary directory"):
        directory = tempfile.TemporaryDirectory(prefix="pteron-")
    path = Path(directory.name)
    try:
        with full_disk(path):
            compile(path)
    except BaseException:
        directory.cleanup()
        raise
    manifest = Manifest(key.identifier, {}, key.parts())
    return Entry(path, manifest, hit=False, release=directory.cleanup, condemn=lambda _: True)
