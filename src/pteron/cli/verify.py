"""``pteron verify``: do a bundled program's test cases give what they should?"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pteron.cli.options import any_file, data_option, engine_option, json_option, precision_option
from pteron.cli.output import print_json

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pteron.runtime.verify import Comparison, Tolerance

_FAILED = 1


@click.command()
@any_file
@click.option(
    "--tolerance",
    multiple=True,
    metavar="DTYPE=RTOL,ATOL",
    help="For outputs of that dtype, e.g. float16=1e-2,1e-3; repeatable.",
)
@click.option(
    "--layers",
    metavar="PATH.py:FUNCTION",
    help="The model; say which of its values is the first to differ from PyTorch.",
)
@data_option
@engine_option
@precision_option
@json_option
def verify(
    file: Path,
    tolerance: tuple[str, ...],
    layers: str | None,
    data: tuple[Path, ...],
    engine: str | None,
    precision: str,
    json: bool,
) -> None:
    """Run bundled test cases and compare the outputs.

    Exit 0 if all are near enough, else 1; also 1 if a case has no expected outputs. Each case
    starts from the state's first values.
    Tolerances go by the output's dtype; integers and booleans must be equal.

    With --layers, FUNCTION returns the model that the file was lowered from, as for 'pteron lower'.
    Every operator is run by PyTorch too, twice per case with state kept, and the first value that
    is not near enough is named, with its line in the model. A file without test cases is given
    the model's example inputs.
    """
    import pteron
    from pteron.errors import UsageError
    from pteron.files import BundledFile
    from pteron.runtime.verify import TOLERANCES
    from pteron.runtime.verify import verify as run_cases

    allowed = dict(TOLERANCES) | dict(map(_parse, tolerance or ()))
    if layers is not None:
        from pteron.cli.verify_layers import verify_layers

        verify_layers(
            file, layers, allowed, data=data or (), engine=engine, precision=precision, json=json
        )
        return
    with pteron.open(file) as bundle:
        if not isinstance(bundle, BundledFile):
            raise UsageError(f"{file} is no bundled program; pteron bundle makes one")
        if not any(suite.test_cases for suite in bundle.test_suites):
            raise UsageError(f"{file} has no test cases; pteron bundle puts them in")
        module = pteron.load(bundle, data=data or (), engine=engine, precision=precision)
        results = list(run_cases(bundle, module, allowed))
    if json:
        print_json([_as_json(result) for result in results])
    else:
        _show(results)
    if not all(result.passed for result in results):
        raise SystemExit(_FAILED)


def _parse(text: str) -> tuple[str, Tolerance]:
    from pteron.dtypes import ScalarType, scalar_type_name
    from pteron.errors import UsageError
    from pteron.runtime.verify import Tolerance

    dtype, _, numbers = text.partition("=")
    try:
        rtol, atol = map(float, numbers.split(","))
    except ValueError:
        raise UsageError(f"--tolerance takes DTYPE=RTOL,ATOL, not {text!r}") from None
    if not (rtol >= 0 and atol >= 0):  # nor NaN
        raise UsageError(f"--tolerance {text}: RTOL and ATOL must be 0 or more")
    known = [scalar_type_name(member) for member in ScalarType]
    if dtype not in known:
        raise UsageError(f"--tolerance {text}: there is no dtype {dtype!r}; {', '.join(known)}")
    return dtype, Tolerance(rtol, atol)


def _as_json(result: Comparison) -> dict[str, Any]:
    """As plain data; JSON has no infinity, so an unbounded difference is null."""
    from dataclasses import asdict
    from math import isfinite

    plain = asdict(result)
    return plain if isfinite(result.largest) else plain | {"largest": None}


def _show(results: Sequence[Comparison]) -> None:
    from rich.console import Console
    from rich.table import Table

    from pteron.cli.text import cell

    table = Table(box=None, pad_edge=False, header_style="dim")
    for column in ("method", "case", "output", "largest difference", "allowed", ""):
        table.add_column(column)
    for r in results:
        if not r.output:
            table.add_row(cell(r.method), str(r.case), "", "", "", f"[red]{cell(r.note)}[/red]")
            continue
        allowed = f"{r.tolerance.atol:g} + {r.tolerance.rtol:g} |x|"
        verdict = "[green]ok[/green]" if r.passed else f"[red]differs[/red] {cell(r.note)}"
        table.add_row(
            cell(r.method), str(r.case), cell(r.output), f"{r.largest:.3g}", allowed, verdict
        )
    console = Console(highlight=False)
    console.print(table)
    console.print(_verdict(results))


def _verdict(results: Sequence[Comparison]) -> str:
    from pteron.cli.text import counted

    compared = [result for result in results if result.output]
    different = sum(not result.passed for result in compared)
    vacuous = len(results) - len(compared)
    without = f", {counted(vacuous, 'case')} without expected outputs" if vacuous else ""
    return f"{counted(len(compared), 'output')} compared, {different} different{without}"
