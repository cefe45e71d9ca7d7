"""Text for a terminal: names in a hostile file may hold anything, escape sequences included."""

from __future__ import annotations


def printable(text: str) -> str:
    """Every character that is not printable in its escaped form (``\\x1b``)."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


def one_line(text: str) -> str:
    """A message on one printable line."""
    return printable(" ".join(text.split()))


def cell(value: object) -> str:
    """A value for a rich table or a rich markup string: printable, with markup taken literally."""
    from rich.markup import escape

    return escape(printable(str(value)))


def counted(count: int, thing: str) -> str:
    """``1 output``, ``2 outputs``."""
    return f"{count} {thing}" if count == 1 else f"{count} {thing}s"
