"""What long work tells while it runs.

The rooms report what they do as named stages; nothing is shown unless somebody watches:

    def show(stage: pteron.progress.Stage) -> None:
        print(stage.name, stage.fraction)

    with pteron.progress.watch(show):
        pteron.lower(model, inputs)

The command line draws its progress bars this way. A watcher sees what happens in its own thread
and in the uploads that were begun there. An exception that it raises ends the work, as an
interrupt would; that is how to cancel.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, replace
from itertools import count
from typing import TypeVar


@dataclass(frozen=True)
class Stage:
    """How far one stage of the work is.

    Attributes:
        key: tells stages apart that are open at the same time; no two stages have the same.
        name: what is done: ``read``, ``export forward``, ``compile main``.
        done: how much of it is done, in ``unit``.
        total: how much there is, or None where nobody knows.
        unit: ``bytes``, or ``""`` for a count of steps.
        ended: whether this is the last that is heard of the stage, done or failed.
    """

    key: int
    name: str
    done: int = 0
    total: int | None = None
    unit: str = ""
    ended: bool = False

    @property
    def fraction(self) -> float | None:
        """The part that is done, from 0 to 1; None where nobody knows."""
        return self.done / self.total if self.total else None


_Item = TypeVar("_Item")

Watcher = Callable[[Stage], None]
"""Is called when a stage begins, advances and ends."""

_KEYS = count()
_watchers: ContextVar[tuple[Watcher, ...]] = ContextVar("pteron.progress", default=())


@contextmanager
def watch(watcher: Watcher) -> Iterator[None]:
    """Tell ``watcher`` of every stage of what happens in this block."""
    token = _watchers.set((*_watchers.get(), watcher))
    try:
        yield
    finally:
        _watchers.reset(token)


class Report:
    """The reporting end of an open stage."""

    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._watchers = _watchers.get()  # another thread may do a part of the work
        self._tell()

    def advance(self, done: int, total: int | None = None) -> None:
        """Say that ``done`` of the total (of another one, if given) is done."""
        total = self._stage.total if total is None else total
        self._stage = replace(self._stage, done=done, total=total)
        self._tell()

    def end(self) -> None:
        """Say that the stage is over."""
        self._stage = replace(self._stage, ended=True)
        self._tell()

    def _tell(self) -> None:
        for watcher in self._watchers:
            watcher(self._stage)


@contextmanager
def stage(name: str, total: int | None = None, unit: str = "") -> Iterator[Report]:
    """Report this block as a stage: ``with stage("upload", size, "bytes") as report``."""
    report = Report(Stage(next(_KEYS), name, total=total, unit=unit))
    try:
        yield report
    finally:
        report.end()


def steps(name: str, items: Collection[_Item]) -> Iterator[_Item]:
    """The items, each a step of a stage: ``for case in steps("verify", cases)``."""
    with stage(name, len(items)) as report:
        for done, item in enumerate(items, 1):
            yield item
            report.advance(done)


def transferred(name: str, chunks: Iterable[bytes], total: int | None = None) -> Iterator[bytes]:
    """The chunks, counted in bytes as a stage."""
    done = 0
    with stage(name, total, "bytes") as report:
        for chunk in chunks:
            yield chunk
            done += len(chunk)
            report.advance(done)
