"""``pteron extract``: take a file apart into files that other tools open."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

import click

from pteron.cli.options import PATH, any_file

CONTENTS = ("program", "constants", "named-data", "payloads")


@click.command()
@any_file
@click.option("-o", "--output", type=PATH, required=True, metavar="DIR", help="New directory.")
@click.option("--only", type=click.Choice(CONTENTS), multiple=True, help="Just this; repeatable.")
@click.option(
    "--arrays",
    type=click.Choice(["safetensors", "npy"]),
    default="safetensors",
    show_default=True,
    help="How to write constants and named data.",
)
def extract(
    file: Path, output: Path, only: tuple[str, ...], arrays: Literal["safetensors", "npy"]
) -> None:
    """Write what is in a file to a new directory.

    That is payloads, constants, named data and the program's tables. A Core ML payload becomes
    the .mlpackage it is, tensors become .safetensors or .npy, the tables become JSON. The
    directory appears complete or not at all.
    """
    import pteron
    from pteron.files.extract import extract as extract_file

    with pteron.open(file) as opened:
        extract_file(opened, output, only or CONTENTS, arrays)
        names = sorted(path.name for path in output.iterdir())
    click.echo(f"{output}: {', '.join(names) or 'nothing to extract'}")
