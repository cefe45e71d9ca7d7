"""Turns what the operating system reports into the cache's own errors."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from pathlib import Path
from typing import TypeVar

from pteron.errors import CacheError, CacheErrorCode, PteronError

T = TypeVar("T")

FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
READ_ONLY = frozenset({errno.EROFS, errno.EACCES, errno.EPERM})
_NEARLY_FULL = 1 << 20


@contextmanager
def io_errors(action: str) -> Iterator[None]:
    """Raise an OSError of the block as a CacheError that says what was being done."""
    try:
        yield
    except PteronError:
        raise
    except OSError as error:
        raise translated(error, action) from error


def translated(error: OSError, action: str) -> CacheError:
    """What happened in trying an action, as a CacheError."""
    code = CacheErrorCode.DISK_FULL if error.errno in FULL else CacheErrorCode.IO_ERROR
    return CacheError(code, f"cannot {action}: {error}")


@contextmanager
def full_disk(directory: Path) -> Iterator[None]:
    """Raise whatever fails in the block as DISK_FULL if the directory's disk is full.

    Engines report a failed write in ways of their own, often without the system's error number.
    """
    try:
        yield
    except Exception as error:
        if not _is_full(error, directory):
            raise
        message = f"no space left for a compiled model in {directory}"
        raise CacheError(CacheErrorCode.DISK_FULL, message) from error


def _is_full(error: Exception, directory: Path) -> bool:
    if isinstance(error, OSError) and error.errno in FULL:
        return True
    try:
        space = os.statvfs(directory)
    except OSError:
        return False
    return space.f_bavail * space.f_frsize < _NEARLY_FULL


@contextmanager
def entering(manager: AbstractContextManager[T], action: str) -> Iterator[T]:
    """Use a context manager, translating what fails on the way in, not what the block raises."""
    with ExitStack() as stack:
        with io_errors(action):
            value = stack.enter_context(manager)
        yield value
