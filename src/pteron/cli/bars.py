"""Progress bars on stderr, for the stages that last."""

from __future__ import annotations

import logging
import sys
import threading
from contextlib import AbstractContextManager
from types import TracebackType
from typing import TYPE_CHECKING

from pteron.cli.text import printable
from pteron.progress import Stage

if TYPE_CHECKING:
    from rich.progress import Progress, TaskID

DELAY = 1.0
"""Seconds after which a stage is worth a line."""


class Bars(AbstractContextManager["Bars"]):
    """A watcher that draws a bar per stage, where stderr is a terminal and ``-q`` is not given.

    A stage is shown once it has lasted for ``delay`` seconds, so that quick commands show nothing.
    The bars are closed whenever no stage is open: an answer is never printed between them.
    """

    def __init__(self, delay: float = DELAY) -> None:
        self._delay = delay
        self._lock = threading.RLock()
        self._timer: threading.Timer | None = None
        self._bars: Progress | None = None
        self._open: dict[int, TaskID] = {}

    def __call__(self, stage: Stage) -> None:
        if not wanted():
            return
        with self._lock:
            if stage.ended:
                self._end(stage)
            else:
                self._show(stage)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        with self._lock:
            self._close()

    def _show(self, stage: Stage) -> None:
        if self._bars is None:
            from pteron.cli.bars_layout import layout

            self._bars = layout(self._delay)
            self._timer = threading.Timer(self._delay, self._start)
            self._timer.daemon = True
            self._timer.start()
        if stage.key not in self._open:
            name = printable(stage.name)
            self._open[stage.key] = self._bars.add_task(name, total=None, unit=stage.unit)
        self._bars.update(self._open[stage.key], completed=stage.done, total=stage.total)

    def _start(self) -> None:
        with self._lock:
            if self._bars is not None:
                self._bars.start()

    def _end(self, stage: Stage) -> None:
        task = self._open.pop(stage.key, None)
        if self._bars is None or task is None:
            return
        if (self._bars.tasks[self._bars.task_ids.index(task)].elapsed or 0) < self._delay:
            self._bars.remove_task(task)
        else:
            self._bars.stop_task(task)
        if not self._open:
            self._close()

    def _close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._bars is not None and self._bars.live.is_started:
            self._bars.stop()
        self._bars, self._timer = None, None
        self._open.clear()


def wanted() -> bool:
    """Whether anybody is there to see progress.

    What ``-q`` sets counts, not what lowering disables to keep the libraries beneath it quiet.
    """
    return sys.stderr.isatty() and logging.getLogger("pteron").level <= logging.WARNING
