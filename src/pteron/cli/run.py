"""``pteron run``: one call of a method from the shell."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pteron.cli.output import JsonOption


def run(
    file: Annotated[Path, typer.Argument(help="A program to run.", show_default=False)],
    inputs: Annotated[Path | None, typer.Option(help="Input arrays (.npz or .npy).")] = None,
    outputs: Annotated[Path | None, typer.Option(help="Where to write the outputs (.npz).")] = None,
    method: Annotated[str, typer.Option(help="Method to call.")] = "forward",
    json: JsonOption = False,
) -> None:
    """Call a method once and show or save its outputs."""
    raise NotImplementedError
