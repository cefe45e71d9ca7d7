"""``pteron unbundle``: the program, and the test cases, out of a bundle."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from pteron.cli.output import JsonOption, print_json
from pteron.errors import UnsupportedError


def unbundle(
    file: Annotated[Path, typer.Argument(help="A bundle (.bpte).", show_default=False)],
    output: Annotated[
        Path, typer.Option("-o", "--output", help="The program to write (.pte).", metavar="FILE")
    ],
    cases: Annotated[
        Path | None, typer.Option(help="Write the test cases here (.npz).", metavar="FILE")
    ] = None,
    json: JsonOption = False,
) -> None:
    """Take the program out of a bundle, byte for byte, and its test cases.

    The cases are written with the keys that 'pteron bundle' reads.
    """
    import pteron
    from pteron import edit
    from pteron.edit.arrays import write_arrays

    with pteron.open(file) as opened:
        if not isinstance(opened, pteron.BundledFile):
            raise UnsupportedError(f"{file} is no bundle")
        counts = {suite.method_name: len(suite.test_cases) for suite in opened.test_suites}
        if cases is not None:
            write_arrays(cases, edit.arrays_from_bundle(opened))
        opened.pte.save(output)
    if json:
        print_json({"output": str(output), "cases": counts})
    else:
        typer.echo(f"{output}: {output.stat().st_size} bytes")
