"""Compiled models in temporary directories of this process, which go when the model does."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pteron.cache.entry import Entry
from pteron.cache.failures import io_errors
from pteron.cache.flight import compile_into
from pteron.cache.key import CacheKey
from pteron.cache.manifest import Manifest, describe
from pteron.cache.protocol import Compile


class PrivateDirectory:
    """A new empty directory outside of any cache, until :meth:`release`."""

    def __init__(self) -> None:
        with io_errors("make a temporary directory"):
            self._directory = tempfile.TemporaryDirectory(prefix="pteron-")
        self._owner = os.getpid()
        self.path = Path(self._directory.name)

    def release(self) -> None:
        """Delete it, unless this is a forked child of its owner."""
        if os.getpid() == self._owner:
            self._directory.cleanup()


@contextmanager
def private_directory() -> Iterator[Path]:
    """A new empty directory, gone at the end of the block."""
    directory = PrivateDirectory()
    try:
        yield directory.path
    finally:
        directory.release()


def compile_privately(key: CacheKey, compile: Compile) -> Entry:
    """Compile into a private directory, which closing the entry removes."""
    directory = PrivateDirectory()
    try:
        seconds = compile_into(directory.path, compile)
        with io_errors(f"read {directory.path}"):
            files = describe(directory.path)
    except BaseException:
        directory.release()
        raise
    manifest = Manifest(key.identifier, files, key.parts(), time.time(), seconds)
    return Entry(
        directory.path,
        manifest,
        hit=False,
        release=directory.release,
        condemn=lambda reason: True,
    )
