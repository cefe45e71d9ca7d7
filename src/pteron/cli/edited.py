"""What every ``pteron edit`` command has in common: what it opens, writes and answers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from pteron.cli.output import print_json
from pteron.cli.readable import open_readable
from pteron.errors import UnsupportedError

if TYPE_CHECKING:
    from pteron.files import PTDFile, PTEFile


def open_program(path: Path) -> PTEFile:
    """The program at ``path``. Raises UnsupportedError for another kind of file."""
    import pteron

    opened = open_readable(path)
    if isinstance(opened, pteron.PTEFile):
        return opened
    opened.close()
    if isinstance(opened, pteron.BundledFile):
        raise UnsupportedError(f"{path} is a bundle; take the program out with 'pteron unbundle'")
    raise UnsupportedError(f"{path} holds data only, not a program")


def open_data(path: Path) -> PTDFile:
    """The data file at ``path``. Raises UnsupportedError for another kind of file."""
    import pteron

    opened = open_readable(path)
    if not isinstance(opened, pteron.PTDFile):
        opened.close()
        raise UnsupportedError(f"{path} is no data file (.ptd)")
    return opened


@contextmanager
def made_together(path: Path) -> Iterator[None]:
    """Take away the file that this block makes at ``path``, unless the block ends well.

    For the first of two files that are of no use without each other. One that was there before,
    and is replaced, stays.
    """
    there = path.exists()
    try:
        yield
    except BaseException:
        if not there:
            path.unlink(missing_ok=True)
        raise


def write(
    edited: PTEFile | PTDFile,
    output: Path,
    inputs: Iterable[Path],
    *,
    drop_unknown: bool,
    json: bool,
) -> None:
    """Save an edited file and say how large it is, and what was dropped."""
    dropped = [f"{table}.{name}" for table, name, _ in edited.unknown_fields]
    before = sum(path.stat().st_size for path in inputs)
    edited.save(output, drop_unknown=drop_unknown)
    if dropped:
        click.echo(f"dropped fields of a newer schema: {', '.join(dropped)}", err=True)
    if not output.is_file():  # a pipe or a device has no size, and may be stdout itself
        return
    after = output.stat().st_size
    if json:
        answer = {"output": str(output), "bytes": after, "input_bytes": before, "dropped": dropped}
        print_json(answer)
    else:
        click.echo(f"{output}: {after} bytes ({after - before:+})")
