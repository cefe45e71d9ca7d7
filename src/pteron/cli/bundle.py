"""``pteron bundle``: a program and its test cases in one file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pteron.cli.edited import open_program
from pteron.cli.options import PATH, any_file, data_option, json_option, output_option
from pteron.cli.output import print_json

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from pteron.edit import Case
    from pteron.files import PTEFile


@click.command()
@any_file
@click.argument("cases", type=PATH)
@output_option
@click.option(
    "--method", default="forward", show_default=True, help="The method of keys that name none."
)
@click.option("--run", is_flag=True, help="Run the program for outputs that are not given.")
@data_option
@json_option
def bundle(
    file: Path,
    cases: Path,
    output: Path,
    method: str,
    run: bool,
    data: tuple[Path, ...],
    json: bool,
) -> None:
    """Bundle a program, byte for byte, with test cases.

    The arrays of the .npz have these keys. CASE counts from 0; NAME is a name or a position:

    METHOD/CASE/input/NAME, such as forward/0/input/x

    METHOD/CASE/output/NAME, which may be left out

    For a single case, input/NAME, output/NAME, or just NAME for an input will do.
    """
    from pteron import edit
    from pteron.files.array_files import read_arrays

    with open_program(file) as program:
        found = edit.cases_from_arrays(read_arrays(cases), method)
        bundled = edit.bundle(program, found)
        if run:
            _compute(program, found, data or [])
            bundled = edit.bundle(program, found)
        bundled.save(output)
    if not output.is_file():  # a pipe or a device, which may be stdout itself
        return
    counts = {name: len(suite) for name, suite in found.items()}
    if json:
        print_json({"output": str(output), "cases": counts})
    else:
        listed = ", ".join(f"{count} of {name}" for name, count in counts.items())
        click.echo(f"{output}: test cases: {listed}")


def _compute(program: PTEFile, cases: Mapping[str, Sequence[Case]], data: Sequence[Path]) -> None:
    """Fill in the outputs of cases that have none; every case begins with the first state."""
    import numpy as np

    import pteron
    from pteron.edit.cases import in_order

    with pteron.load(program, data=data) as module:
        for name, suite in cases.items():
            names = [info.name for info in program.methods[name].inputs]
            for case in suite:
                if case.outputs:
                    continue
                for state in module.state.values():
                    state.reset()
                outputs = module.method(name)(*in_order(case.inputs, names, name))
                case.outputs = {str(i): np.asarray(value) for i, value in enumerate(outputs)}
