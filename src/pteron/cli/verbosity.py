"""``-q`` and ``-v``, before a command and after it, and what they change: messages on stderr."""

from __future__ import annotations

import logging
import time
from typing import Any

import click

from pteron.cli.text import printable
from pteron.progress import Stage

_LOG = logging.getLogger("pteron")


def _set(level: int) -> Any:
    def callback(context: click.Context, _: click.Parameter, given: bool) -> None:
        if given and not context.resilient_parsing:
            _LOG.setLevel(level)

    return callback


def options() -> list[click.Option]:
    """Fresh ``-q`` and ``-v`` options for a command; the last one given counts."""
    return [
        click.Option(
            ["-q", "--quiet"],
            is_flag=True,
            expose_value=False,
            callback=_set(logging.ERROR),
            help="Only errors on stderr.",
        ),
        click.Option(
            ["-v", "--verbose"],
            is_flag=True,
            expose_value=False,
            callback=_set(logging.INFO),
            help="Say on stderr what is done, and how long it takes.",
        ),
    ]


class Messages(logging.Handler):
    """Log records as lines on stderr, whatever stderr is at that moment."""

    def emit(self, record: logging.LogRecord) -> None:
        level = "" if record.levelno == logging.INFO else f"{record.levelname.lower()}: "
        click.echo(f"pteron: {level}{printable(record.getMessage())}", err=True)


def show_messages() -> None:
    """Send pteron's warnings, and errors of the libraries beneath, to stderr."""
    _LOG.setLevel(logging.WARNING)
    root = logging.getLogger()
    root.setLevel(logging.ERROR)
    if not any(isinstance(handler, Messages) for handler in root.handlers):
        root.addHandler(Messages())


class StageMessages:
    """A watcher that logs when a stage begins, and how long it took: for ``-v``."""

    def __init__(self) -> None:
        self._began: dict[int, float] = {}

    def __call__(self, stage: Stage) -> None:
        if stage.key not in self._began:
            self._began[stage.key] = time.monotonic()
            _LOG.info("%s", stage.name)
        if stage.ended:
            seconds = time.monotonic() - self._began.pop(stage.key)
            _LOG.info("%s: %.2f s", stage.name, seconds)
