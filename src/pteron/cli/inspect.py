"""``pteron inspect``: what is in a program file, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pteron.cli.output import JsonOption, print_json


def inspect(
    file: Annotated[Path, typer.Argument(help="A .pte, .bpte or .ptd file.", show_default=False)],
    everything: Annotated[bool, typer.Option("--all", help="Do not fold long lists.")] = False,
    json: JsonOption = False,
) -> None:
    """Show methods, inputs and outputs, delegates, states, constants, segments and sizes."""
    import pteron
    from pteron.files.summary import summarise

    with pteron.open(file) as opened:
        summary = summarise(opened)
    if json:
        print_json(summary)
        return
    from pteron.cli.page import print_page

    print_page(summary, everything=everything)
