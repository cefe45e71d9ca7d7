"""Refuses a cache directory that someone else could put a model in: a compiled model is code."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from pteron.errors import CacheError, CacheErrorCode


def check_private(path: Path) -> None:
    """Raise INITIALIZATION_FAILED unless ``path`` is a directory that only we (or root) can write.

    A symbolic link in its place is refused too: inside a cache nothing leads out of it.
    """
    status = path.lstat()
    if stat.S_ISLNK(status.st_mode):
        raise _refusal(path, "is a symbolic link")
    if not stat.S_ISDIR(status.st_mode):
        raise _refusal(path, "is not a directory")
    if status.st_uid not in (os.geteuid(), 0):
        raise _refusal(path, f"belongs to another user (uid {status.st_uid})")
    if status.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        raise _refusal(path, f"can be written by other users; chmod go-w {path}")


def _refusal(path: Path, why: str) -> CacheError:
    return CacheError(CacheErrorCode.INITIALIZATION_FAILED, f"{path} {why}")
