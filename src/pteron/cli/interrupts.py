"""Ctrl-C that libraries cannot swallow."""

from __future__ import annotations

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

from pteron.progress import Stage


class Interrupts:
    """While open, remembers an interrupt, so that :meth:`check` can raise it once more.

    coremltools has ``except:`` clauses that take a KeyboardInterrupt for a failed attempt and go
    on, and Python drops one that is raised in a destructor or a callback. As a watcher of
    :mod:`pteron.progress` it checks with every stage, and leaving raises it too. A process that
    was started to ignore interrupts, as a script's background jobs are, goes on ignoring them.
    """

    def __init__(self) -> None:
        self._seen = False
        self._before: Any = None

    def __enter__(self) -> Interrupts:
        if _in_main_thread() and signal.getsignal(signal.SIGINT) is not signal.SIG_IGN:
            self._before = signal.signal(signal.SIGINT, self._note)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)
        self.check()

    def __call__(self, _stage: Stage) -> None:
        if _in_main_thread():
            self.check()

    def check(self) -> None:
        """Raise KeyboardInterrupt if there was an interrupt."""
        if self._seen:
            raise KeyboardInterrupt

    def _note(self, _signal: int, _frame: FrameType | None) -> None:
        self._seen = True
        raise KeyboardInterrupt


def _in_main_thread() -> bool:
    return threading.current_thread() is threading.main_thread()
