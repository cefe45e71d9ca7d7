"""``pteron extract``: take a file apart into files that other tools open."""

from __future__ import annotations

from enum import Enum
from pathlib import Path
from typing import Annotated, Literal

import typer


class Content(str, Enum):
    """Choices of ``--only`` (typer takes lists of enum members, not of literals)."""

    PROGRAM = "program"
    CONSTANTS = "constants"
    NAMED_DATA = "named-data"
    PAYLOADS = "payloads"


def extract(
    file: Annotated[Path, typer.Argument(help="A .pte, .bpte or .ptd file.", show_default=False)],
    output: Annotated[
        Path,
        typer.Option(
            "-o", "--output", help="New directory to write to.", metavar="DIR", show_default=False
        ),
    ],
    only: Annotated[
        list[Content] | None, typer.Option(help="Extract just this; repeatable.")
    ] = None,
    arrays: Annotated[
        Literal["safetensors", "npy"], typer.Option(help="How to write constants and named data.")
    ] = "safetensors",
) -> None:
    """Write payloads, constants, named data and the program's tables to a new directory.

    A Core ML payload becomes the .mlpackage it is, tensors become .safetensors or .npy, the tables
    become JSON. The directory appears complete or not at all.
    """
    import pteron
    from pteron.files.extract import CONTENTS
    from pteron.files.extract import extract as extract_file

    with pteron.open(file) as opened:
        contents = [content.value for content in only] if only else CONTENTS
        extract_file(opened, output, contents, arrays)
        names = sorted(path.name for path in output.iterdir())
    typer.echo(f"{output}: {', '.join(names) or 'nothing to extract'}")
