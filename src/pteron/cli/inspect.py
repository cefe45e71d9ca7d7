"""``pteron inspect``: what is in a program file, on one page."""

from __future__ import annotations

from pathlib import Path

import click

from pteron.cli.options import all_option, any_file, json_option
from pteron.cli.output import print_json


@click.command()
@any_file
@all_option
@json_option
def inspect(file: Path, everything: bool, json: bool) -> None:
    """Show what is in a file.

    Methods with inputs and outputs, delegates, states, constants, segments and sizes.
    """
    import pteron
    from pteron.files.summary import summarise

    with pteron.open(file) as opened:
        summary = summarise(opened)
    if json:
        print_json(summary)
        return
    from pteron.cli.page import print_page

    print_page(summary, everything=everything)
