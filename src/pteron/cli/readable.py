"""Which of several files is the damaged one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from pteron.errors import FormatError

if TYPE_CHECKING:
    from pteron.files import BundledFile, PTDFile, PTEFile


@contextmanager
def faults_of(path: Path) -> Iterator[None]:
    """Errors about what is in a file begin with its path."""
    try:
        yield
    except FormatError as fault:
        text = str(fault)
        raise FormatError(text if text.startswith(str(path)) else f"{path}: {text}") from None


def open_readable(path: Path) -> PTEFile | PTDFile | BundledFile:
    """An open file all of whose tables have been read, and all that they refer to.

    Raises FormatError for a damaged file, with its path in front: a command that reads two files
    at a time could not tell later which of them it was.
    """
    import pteron

    with faults_of(path):
        opened = pteron.open(path)
        try:
            if isinstance(opened, pteron.PTDFile):
                opened.named_data  # noqa: B018 - reading verifies
            else:
                (opened.pte if isinstance(opened, pteron.BundledFile) else opened).parts()
        except FormatError:
            opened.close()
            raise
        return opened
