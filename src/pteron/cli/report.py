"""``pteron report``: a file, or two, as one page to open in a browser."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Any

import click

from pteron.cli.options import PATH, any_file
from pteron.errors import UsageError


@click.command()
@any_file
@click.argument("other", type=PATH, required=False)
@click.option(
    "-o",
    "--output",
    type=PATH,
    default=Path("report.html"),
    show_default=True,
    metavar="FILE",
    help="The page to write.",
)
@click.option(
    "--profile",
    type=PATH,
    metavar="FILE",
    help="A trace of a run that 'pteron bench --trace' wrote, to lay over the graph.",
)
def report(file: Path, other: Path | None, output: Path, profile: Path | None) -> None:
    """Draw a file: where its bytes and its memory go, what runs, and who owns the state.

    With OTHER, what became of it there. The page is one HTML file that needs no network.
    """
    import pteron
    from pteron.cli.readable import faults_of
    from pteron.report import report as describe

    inputs = [path for path in (file, other) if path is not None]
    _refuse_to_replace(output, [*inputs, *([profile] if profile else [])])
    with ExitStack() as stack:
        opened: list[Any] = []
        for path in inputs:
            with faults_of(path):
                opened.append(stack.enter_context(pteron.open(path)))
        describe(*opened, profile=profile).save(output)
    click.echo(str(output))


def _refuse_to_replace(output: Path, inputs: list[Path]) -> None:
    for path in inputs:
        if output.resolve() == path.resolve():
            raise UsageError(f"{output} is what the page is made of: write it to another file")
