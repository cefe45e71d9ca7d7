"""How a progress bar looks: name, bar, how much of how much, time."""

from __future__ import annotations

import sys
from collections.abc import Iterable

from rich.console import Console
from rich.filesize import decimal
from rich.progress import BarColumn, Progress, ProgressColumn, Task, TextColumn, TimeElapsedColumn
from rich.table import Column, Table
from rich.text import Text


def layout(delay: float) -> Progress:
    """Bars for stderr that show a task once it is ``delay`` seconds old."""
    name = Column(min_width=22, max_width=40, no_wrap=True, overflow="ellipsis")
    return _Lasting(
        TextColumn("{task.description}", markup=False, table_column=name),
        BarColumn(),
        _Amount(),
        TimeElapsedColumn(),
        console=Console(file=sys.stderr),
        redirect_stdout=False,
        delay=delay,
    )


class _Lasting(Progress):
    """Progress that leaves out what was quick."""

    def __init__(self, *columns: ProgressColumn, delay: float, **options: object) -> None:
        self._delay = delay
        super().__init__(*columns, **options)  # type: ignore[arg-type]

    def make_tasks_table(self, tasks: Iterable[Task]) -> Table:
        return super().make_tasks_table(t for t in tasks if (t.elapsed or 0) >= self._delay)


class _Amount(ProgressColumn):
    """``3/12``, or ``1.2/3.4 GB``; nothing where the total is not known."""

    def render(self, task: Task) -> Text:
        if task.total is None:
            return Text("")
        done, total = int(task.completed), int(task.total)
        if task.fields["unit"] == "bytes":
            return Text(f"{decimal(done)}/{decimal(total)}")
        return Text(f"{done}/{total}")
