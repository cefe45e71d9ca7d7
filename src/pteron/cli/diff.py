"""``pteron diff``: how two files differ."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pteron.cli.options import PATH, json_option
from pteron.cli.output import print_json

if TYPE_CHECKING:
    from pteron.files.diff import Change

_DIFFERENT = 1


@click.command()
@click.argument("before", type=PATH)
@click.argument("after", type=PATH)
@click.option("--all", "everything", is_flag=True, help="Every change, not the first of each kind.")
@json_option
def diff(before: Path, after: Path, everything: bool, json: bool) -> None:
    """Show how two files differ.

    Exit 0 if they are the same, 1 if they are not. Methods, signatures, steps, memory plan,
    delegates and what is in their payloads, constants and weights by name with their distance,
    named data, segments and sizes are compared.
    """
    from pteron.cli.readable import open_readable
    from pteron.files.diff import diff as diff_files

    with open_readable(before) as one, open_readable(after) as other:
        changes = diff_files(one, other)
    if json:
        print_json({"same": not changes, "changes": [change.as_json() for change in changes]})
    else:
        _print(changes, everything)
    if changes:
        raise SystemExit(_DIFFERENT)


def _print(changes: list[Change], everything: bool) -> None:
    from rich.console import Console
    from rich.text import Text

    from pteron.cli.text import one_line
    from pteron.files.diff.lines import FOLD, lines

    styles = {"+": "green", "-": "red", "~": "yellow"}
    console = Console(highlight=False, soft_wrap=True)
    for mark, text in lines(changes, None if everything else FOLD):
        if mark:
            console.print(Text(f"  {mark} ", style=styles[mark]) + Text(one_line(text)))
        else:
            console.print(Text(one_line(text), style="bold"))
    if not changes:
        console.print("the same")
