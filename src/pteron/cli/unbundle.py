"""``pteron unbundle``: the program, and the test cases, out of a bundle."""

from __future__ import annotations

from pathlib import Path

import click

from pteron.cli.options import PATH, any_file, json_option
from pteron.cli.output import print_json
from pteron.errors import UnsupportedError


@click.command()
@any_file
@click.option("-o", "--output", type=PATH, required=True, metavar="FILE", help="The .pte to write.")
@click.option("--cases", type=PATH, metavar="FILE", help="Write the test cases here (.npz).")
@json_option
def unbundle(file: Path, output: Path, cases: Path | None, json: bool) -> None:
    """Take the program out of a bundle, byte for byte.

    With --cases, the test cases too. They are written with the keys that 'pteron bundle' reads.
    """
    import pteron
    from pteron import edit
    from pteron.files.array_files import write_arrays

    with pteron.open(file) as opened:
        if not isinstance(opened, pteron.BundledFile):
            raise UnsupportedError(f"{file} is no bundle")
        counts = {suite.method_name: len(suite.test_cases) for suite in opened.test_suites}
        if cases is not None:
            write_arrays(cases, edit.arrays_from_bundle(opened))
        opened.pte.save(output)
    if not output.is_file():  # a pipe or a device has no size, and may be stdout itself
        return
    if json:
        print_json({"output": str(output), "cases": counts})
    else:
        click.echo(f"{output}: {output.stat().st_size} bytes")
