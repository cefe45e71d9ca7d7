"""Judges what is to be stored."""

from __future__ import annotations

import json
import stat
from collections.abc import Mapping
from pathlib import Path

from pteron.cache.manifest import check_seconds
from pteron.cache.tree import file_sizes
from pteron.errors import CacheError, CacheErrorCode, UsageError


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


def check_details(key: Mapping[str, object] | None, compile_seconds: float) -> None:
    """Raise UsageError unless a manifest can keep these, and give them back."""
    try:
        check_seconds(compile_seconds)
    except (TypeError, ValueError) as error:
        raise UsageError(f"compile_seconds is {compile_seconds!r}, not a duration") from error
    try:
        json.dumps(dict(key or {}))
    except (TypeError, ValueError, RecursionError) as error:
        raise UsageError(f"the key of an entry cannot be written as JSON: {error}") from error


def _bad_source(source: Path, why: str) -> CacheError:
    return CacheError(CacheErrorCode.SOURCE_NOT_FOUND, f"{source} {why}")
