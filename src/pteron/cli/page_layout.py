"""How a page is laid out: labelled lines and tables that fit the terminal, long lists folded."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeVar

from rich.cells import cell_len
from rich.console import Console
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from pteron.cli.text import cell, printable

FOLD = 12
"""Entries of a long list that are shown; the rest is counted."""
_LABEL = 8
"""Width of the labels in front of lines."""
_NUMBERS = frozenset({"size", "offset", "#"})

_Item = TypeVar("_Item")


class Layout:
    """Prints a page to stdout; ``everything`` folds nothing."""

    def __init__(self, *, everything: bool) -> None:
        self._console = Console(highlight=False)
        self._everything = everything

    def heading(self, markup: str, indent: int = 0) -> None:
        """A line of rich markup."""
        self._console.print(Padding(markup, (0, 0, 0, indent), expand=False))

    def line(self, label: str, items: Sequence[object], indent: int = 2) -> None:
        """A labelled line of items, which are plain text, with commas between.

        Where it is too long for the terminal it goes on below its own text.
        """
        texts = [printable(str(item)) for item in self._shown(items)]
        if rest := self._rest(items, texts):
            texts.append(rest)
        room = self._console.width - indent - _LABEL - 1
        grid = Table.grid(padding=(0, 1, 0, 0))
        grid.add_column(width=_LABEL, no_wrap=True)
        grid.add_column(overflow="fold")
        grid.add_row(label, Text("\n".join(_packed(texts, room))))
        self._console.print(Padding(grid, (0, 0, 0, indent), expand=False))

    def rows(self, title: str, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
        """A table with a title, or nothing if it would be empty."""
        listed = list(rows)
        if not listed:
            return
        table = Table(box=None, pad_edge=False, header_style="dim")
        for column in columns:
            justify = "right" if column in _NUMBERS else "left"
            table.add_column(
                column,
                justify=justify,  # type: ignore[arg-type]
                overflow="fold",
                no_wrap=column in _NUMBERS,
            )
        shown = self._shown(listed)
        for row in shown:
            table.add_row(*map(cell, row))
        self.heading(f"[bold]{title}[/bold]")
        self._console.print(table)
        self._say_rest(listed, shown)

    def each(self, things: Sequence[_Item], what: str) -> Iterator[_Item]:
        """The things that are shown; after them, how many more ``what`` there are."""
        shown = self._shown(things)
        yield from shown
        self._say_rest(things, shown, what)

    def _shown(self, things: Sequence[_Item]) -> Sequence[_Item]:
        whole = self._everything or len(things) <= FOLD + 1  # saying "1 more" takes no less room
        return things if whole else things[:FOLD]

    def _rest(self, things: Sequence[object], shown: Sequence[object], what: str = "") -> str:
        count = len(things) - len(shown)
        return f"and {count} more{what and ' '}{what}: --all shows them" if count else ""

    def _say_rest(self, things: Sequence[object], shown: Sequence[object], what: str = "") -> None:
        if rest := self._rest(things, shown, what):
            self.heading(f"[dim]{rest}[/dim]")


def _packed(items: Sequence[str], width: int) -> list[str]:
    """The items in as few lines as hold them whole; a longer item has lines of its own."""
    lines = [""]
    for position, item in enumerate(items):
        text = f"{item}," if position < len(items) - 1 else item
        longer = f"{lines[-1]} {text}" if lines[-1] else text
        if lines[-1] and cell_len(longer) > width:
            lines.append(text)
        else:
            lines[-1] = longer
    return lines
