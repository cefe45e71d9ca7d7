"""The stages of a lowering, which follow each other."""

from __future__ import annotations

from contextlib import AbstractContextManager, ExitStack
from types import TracebackType

from pteron.progress import Report, stage


class Progress(AbstractContextManager["Progress"]):
    """Reports one stage after the other to :mod:`pteron.progress`; leaving it ends the last."""

    def __init__(self) -> None:
        self._open = ExitStack()
        self._report: Report | None = None

    def stage(self, name: str) -> None:
        """End the open stage and begin another."""
        self._open.close()
        self._report = self._open.enter_context(stage(name))

    def advance(self, done: int, total: int) -> None:
        """Say how far the open stage is."""
        if self._report is not None:
            self._report.advance(done, total)

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._open.close()
