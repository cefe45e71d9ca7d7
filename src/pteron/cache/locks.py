"""Locks of the operating system: its kernel releases them when their process dies.

A lock is a ``flock`` on an open file, so threads exclude each other as processes do, waiting
needs no polling, and a signal interrupts it. A lock file is unlinked before its lock is released,
so that none is left lying about.
"""

from __future__ import annotations

import errno
import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from pteron.cache.tree import remove_tree

with suppress(ImportError):  # not POSIX: prepare() refuses the cache before a lock is asked for
    import fcntl

NOT_A_FILE = frozenset({errno.EISDIR, errno.ELOOP, errno.ENXIO})
"""What opening a directory, a symbolic link or a socket says; no lock file of ours is one."""

_UNSUPPORTED = frozenset({errno.ENOLCK, errno.ENOSYS, errno.EOPNOTSUPP})
_exclusive: weakref.WeakSet[Lock] = weakref.WeakSet()


class Lock:
    """An open file that is locked until :meth:`close` or the end of the process."""

    def __init__(self, fd: int) -> None:
        self._fd: int | None = fd

    def share(self) -> bool:
        """Lock the open file together with others who share it; False if someone excludes us."""
        return self._fd is not None and flock(self._fd, shared=True)

    def __del__(self) -> None:
        self.close()

    def close(self) -> None:
        """Release the lock. A second call does nothing."""
        fd, self._fd = self._fd, None
        if fd is not None:
            os.close(fd)


def flock(fd: int, *, shared: bool = False, wait: bool = False) -> bool:
    """Lock an open file; False if it is locked otherwise and ``wait`` is not set.

    Where the filesystem has no locks nobody is excluded and the answer is True.
    """
    flags = fcntl.LOCK_SH if shared else fcntl.LOCK_EX
    try:
        fcntl.flock(fd, flags if wait else flags | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
    return True


def locks_work(path: Path) -> bool:
    """Whether the filesystem of this file knows locks."""
    fd = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        fcntl.flock(fd, fcntl.LOCK_SH)
    except OSError as error:
        if error.errno not in _UNSUPPORTED:
            raise
        return False
    finally:
        os.close(fd)
    return True


def try_exclusive(path: Path) -> Lock | None:
    """Lock a file that exists; None if someone holds it. Raises FileNotFoundError if it is gone."""
    fd = os.open(path, os.O_RDWR | os.O_NOFOLLOW | os.O_CLOEXEC)
    try:
        if flock(fd) and _is_at(fd, path):
            return _remember(Lock(fd))
    except BaseException:
        os.close(fd)
        raise
    os.close(fd)
    return None


def remove_if_free(path: Path) -> bool:
    """Unlink a lock file that nobody holds, or what stands in its place and is none."""
    try:
        lock = try_exclusive(path)
    except FileNotFoundError:
        return False
    except OSError as error:
        if error.errno not in NOT_A_FILE:
            raise
        remove_tree(path)
        return True
    if lock is None:
        return False
    path.unlink(missing_ok=True)
    lock.close()
    return True


@contextmanager
def exclusive(path: Path, *, keep: bool = False) -> Iterator[None]:
    """Hold the lock file at ``path``, waiting for whoever holds it.

    The file is made when it is missing, and unlinked at the end unless ``keep`` is set.
    """
    lock = acquire(path)
    try:
        yield
    finally:
        if not keep:
            path.unlink(missing_ok=True)
        lock.close()


def acquire(path: Path) -> Lock:
    """Create and lock a lock file. Whoever unlinks it must do so before closing the lock."""
    while True:
        fd = open_file(path, os.O_RDWR | os.O_CREAT)
        try:
            flock(fd, wait=True)
            if _is_at(fd, path):
                return _remember(Lock(fd))
        except BaseException:
            os.close(fd)
            raise
        os.close(fd)


def open_file(path: Path, flags: int) -> int:
    """Open a file of the cache's own; a directory, link or socket in its place is removed."""
    while True:
        try:
            return os.open(path, flags | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError as error:
            if error.errno not in NOT_A_FILE:
                raise
        remove_tree(path)


def _is_at(fd: int, path: Path) -> bool:
    """Whether the path still leads to the open file: its last holder may have unlinked it."""
    try:
        return os.path.samestat(os.fstat(fd), path.lstat())
    except FileNotFoundError:
        return False


def _remember(lock: Lock) -> Lock:
    _exclusive.add(lock)
    return lock


def _forget_in_child() -> None:
    """A forked child must not keep its parent's locks alive after the parent's death."""
    for lock in list(_exclusive):
        lock.close()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_in_child)
