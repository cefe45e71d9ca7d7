"""``pteron inspect``: what is in a program file, on one page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pteron.cli.options import all_option, any_file, json_option
from pteron.cli.output import print_json


@click.command()
@any_file
@all_option
@json_option
def inspect(file: Path, everything: bool, json: bool) -> None:
    """Show what is in a file.

    Methods with inputs and outputs, delegates, states, constants, segments and sizes; of a Core ML
    package or compiled model its functions, constants and files.
    """
    summary = _summary(file)
    if json:
        print_json(summary)
        return
    from pteron.cli.page import print_page

    print_page(summary, everything=everything)


def _summary(file: Path) -> dict[str, Any]:
    import pteron
    from pteron.files.summary import summarise
    from pteron.payloads.coreml.directories import is_package

    if is_package(file):
        from pteron.files.packages import summarise_package

        return summarise_package(file)
    with pteron.open(file) as opened:
        return summarise(opened)
