"""Walks the files of a compiled model, which may hold regular files and directories only."""

from __future__ import annotations

import errno
import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path


def file_sizes(root: str | os.PathLike[str]) -> dict[str, int]:
    """Size in bytes of every file beneath ``root``, by ``/``-separated relative path.

    Raises:
        OSError: ENOTDIR if ``root`` is no directory itself; ELOOP for a symbolic link, a device, a
            socket or a pipe beneath it.
    """
    check_directory(root)
    sizes: dict[str, int] = {}
    pending = [("", os.fspath(root))]
    while pending:
        prefix, directory = pending.pop()
        with os.scandir(directory) as members:
            for member in members:
                if member.is_file(follow_symlinks=False):
                    sizes[prefix + member.name] = member.stat(follow_symlinks=False).st_size
                elif member.is_dir(follow_symlinks=False):
                    pending.append((f"{prefix}{member.name}/", member.path))
                else:
                    raise OSError(errno.ELOOP, "not a regular file or directory", member.path)
    return sizes


def check_directory(path: str | os.PathLike[str]) -> None:
    """Raise OSError (ENOTDIR) unless this is a directory itself, not a symbolic link to one."""
    if not stat.S_ISDIR(os.lstat(path).st_mode):
        raise OSError(errno.ENOTDIR, "not a directory", os.fspath(path))


def copy_files(source: Path, target: Path) -> None:
    """Copy the files of a tree, with permissions of our own, to an empty directory."""
    target.mkdir(mode=0o700, exist_ok=True)
    for path in file_sizes(source):
        (target / path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        shutil.copyfile(source / path, target / path, follow_symlinks=False)


def remove_tree(path: Path) -> None:
    """Delete a file, or a directory and all beneath it; one that is gone already is no error."""
    while os.path.lexists(path):
        with suppress(FileNotFoundError):  # someone else may be deleting it at the same time
            if path.is_dir() and not path.is_symlink():
                shutil.rmtree(path)
            else:
                path.unlink()
