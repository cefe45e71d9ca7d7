"""The command tree: one module per verb."""

from __future__ import annotations

import click

from pteron import __version__
from pteron.cli import verbosity
from pteron.cli.lazy_group import LazyGroup

VERBS = (
    "bench",
    "bundle",
    "cache",
    "check",
    "completion",
    "diff",
    "edit",
    "extract",
    "inspect",
    "lower",
    "report",
    "run",
    "size",
    "unbundle",
    "verify",
)


@click.group(
    cls=LazyGroup,
    params=verbosity.options(),
    homes={verb: f"pteron.cli.{verb}:{verb}" for verb in VERBS},
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Start with 'pteron inspect model.pte'. Exit codes: 0 yes or done, 1 a negative finding "
    "(invalid, different, not verified), 2 cannot do that.",
)
@click.version_option(__version__, message="pteron %(version)s")
def app() -> None:
    """Open, edit, lower, cache and run ExecuTorch programs (.pte, .bpte, .ptd) on any machine.

    \b
    pteron lower model.py:build -o model.pte     a PyTorch model becomes a program
    pteron inspect model.pte                     what is in it, and who owns its state
    pteron size model.pte                        what makes it big
    pteron run model.pte --inputs x.npz          call it here; compiled once, cached
    pteron bundle model.pte cases.npz -o m.bpte  with test cases, for
    pteron verify m.bpte                         any machine that runs it
    """
