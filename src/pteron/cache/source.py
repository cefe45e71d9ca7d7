"""Judges a directory that is to be stored."""

from __future__ import annotations

import stat
from pathlib import Path

from pteron.cache.tree import file_sizes
from pteron.errors import CacheError, CacheErrorCode


def check_source(source: Path) -> None:
    """Raise SOURCE_NOT_FOUND unless the source is a directory of regular files, at least one."""
    try:
        if not stat.S_ISDIR(source.lstat().st_mode):
            raise _bad_source(source, "is not a directory")
        if not file_sizes(source):
            raise _bad_source(source, "holds no files")
    except OSError as error:
        raise _bad_source(
            source, f"cannot be stored ({error.strerror}: {error.filename})"
        ) from error


def _bad_source(source: Path, why: str) -> CacheError:
    return CacheError(CacheErrorCode.SOURCE_NOT_FOUND, f"{source} {why}")
