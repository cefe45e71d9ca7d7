"""Entry point of the ``pteron`` command, and its one rule about errors.

Exit codes: 0 yes or done; 1 a negative finding (invalid file, files differ, verification failed);
2 cannot do that (usage, unreadable input, missing extra). Answers go to stdout, messages to stderr.
"""

from __future__ import annotations

import sys

import click

from pteron.cli.app import app
from pteron.cli.bars import Bars
from pteron.cli.interrupts import Interrupts
from pteron.cli.stdout import checked_stdout
from pteron.cli.text import one_line
from pteron.cli.verbosity import StageMessages, show_messages
from pteron.errors import PteronError
from pteron.progress import watch

CANNOT = 2
INTERRUPTED = 130


def main() -> None:
    """Run the command line; a :class:`PteronError` becomes one line on stderr and exit 2."""
    try:
        sys.exit(_run() or 0)
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except PteronError as error:
        print(f"pteron: {one_line(str(error))}", file=sys.stderr)
        sys.exit(CANNOT)
    except (click.Abort, KeyboardInterrupt):
        print("pteron: interrupted", file=sys.stderr)
        sys.exit(INTERRUPTED)


def _run() -> int | None:
    show_messages()
    with (
        Interrupts() as interrupts,
        Bars() as bars,
        watch(interrupts),
        watch(bars),
        watch(StageMessages()),
        checked_stdout(sys.stdout),
    ):
        code: int | None = app.main(prog_name="pteron", standalone_mode=False)
        _finish_uploads()
    return code


def _finish_uploads() -> None:
    """Wait for uploads while their progress is shown, not silently when Python ends."""
    background = sys.modules.get("pteron.cache.background")
    if background is not None:
        background.finish_all()
