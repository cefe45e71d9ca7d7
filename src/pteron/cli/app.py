"""The command tree: one module per verb, registered here."""

from __future__ import annotations

import logging
from typing import Annotated

import typer

from pteron.cli import (
    bundle,
    cache,
    check,
    diff,
    edit,
    extract,
    inspect,
    lower,
    run,
    size,
    unbundle,
    verify,
)

app = typer.Typer(
    name="pteron",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from pteron import __version__

        typer.echo(f"pteron {__version__}")
        raise typer.Exit


@app.callback()
def pteron(
    quiet: Annotated[bool, typer.Option("-q", "--quiet", help="Only errors on stderr.")] = False,
    verbose: Annotated[bool, typer.Option("-v", "--verbose", help="Say more on stderr.")] = False,
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Open, edit, lower, cache and run ExecuTorch programs (.pte, .bpte, .ptd) on any machine.

    Start with [bold]pteron inspect model.pte[/bold].
    """
    level = logging.ERROR if quiet else logging.INFO if verbose else logging.WARNING
    logging.basicConfig(format="pteron: %(levelname)s: %(message)s", level=logging.ERROR)
    logging.getLogger("pteron").setLevel(level)


app.command()(bundle.bundle)
app.command()(check.check)
app.command()(diff.diff)
app.command()(extract.extract)
app.command()(inspect.inspect)
app.command()(lower.lower)
app.command()(run.run)
app.command()(size.size)
app.command()(unbundle.unbundle)
app.command()(verify.verify)
app.add_typer(cache.app, name="cache")
app.add_typer(edit.edit, name="edit")
