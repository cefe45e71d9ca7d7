"""A directory that appears complete or not at all."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pteron.errors import FileAccessError


@contextmanager
def new_directory(path: str | os.PathLike[str]) -> Iterator[Path]:
    """A directory to fill, which gets the name ``path`` when the block ends without an error.

    Raises FileAccessError where something of that name exists already, unless it is an empty
    directory, and for whatever the operating system refuses in the block.
    """
    target = Path(path).absolute()
    temporary = target.with_name(f".{target.name}.{secrets.token_hex(4)}.tmp")
    try:
        _refuse_existing(target)
        temporary.mkdir()
        yield temporary
        temporary.rename(target)
    except OSError as error:
        if isinstance(error, FileAccessError):
            raise
        raise FileAccessError(f"cannot write {target}: {error.strerror or error}") from error
    finally:
        shutil.rmtree(temporary, ignore_errors=True)  # it is gone when all went well


def _refuse_existing(target: Path) -> None:
    empty = target.is_dir() and not target.is_symlink() and not any(target.iterdir())
    if os.path.lexists(target) and not empty:
        raise FileAccessError(f"{target} exists already; name a directory that does not")
