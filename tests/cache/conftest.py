"""Fixtures for caches on disk."""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from pteron.cache import DirectoryCache
from pteron.cache.testing import write_files
from tests.cache.processes import fast_directory


@pytest.fixture
def tmp_path() -> Iterator[Path]:
    """A directory of the test's own, where flushing to the disk costs little if there is one."""
    with tempfile.TemporaryDirectory(prefix="pteron-test-", dir=fast_directory()) as path:
        yield Path(path)


@pytest.fixture
def cache(tmp_path: Path) -> DirectoryCache:
    """A cache in a directory of its own."""
    return DirectoryCache(tmp_path / "cache")


@pytest.fixture
def put(tmp_path: Path) -> Callable[..., None]:
    """Stores an entry of one file: ``put(cache, name, size)``."""

    def put(cache: DirectoryCache, name: str, size: int = 100) -> None:
        with cache.temporary_directory() as temporary:
            files = {"model.bin": name.encode().ljust(size, b".")[:size]}
            cache.store(name, write_files(temporary / "model", files)).close()

    return put


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A filesystem of 2 MiB."""
    path = tmp_path / "disk"
    path.mkdir(mode=0o700)
    if os.geteuid() != 0:
        pytest.skip("only root can mount a small filesystem")
    mount = ["mount", "-t", "tmpfs", "-o", "size=2m,mode=0700", "tmpfs", str(path)]
    if subprocess.run(mount, capture_output=True).returncode != 0:
        pytest.skip("this system lets nobody mount a small filesystem")
    try:
        yield path
    finally:
        subprocess.run(["umount", "--lazy", str(path)], check=True)
