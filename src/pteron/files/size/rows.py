"""A tree of parts as lines for people: the largest first, small change counted together."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from pteron.payloads import Part

FOLD = 20
"""Parts of one parent that are shown; the rest is one line."""

_FILLING = ("padding", "tables")


@dataclass(frozen=True)
class Row:
    """One line.

    Attributes:
        level: how deep in the tree, the root is 0.
        name: the part's name, or what the line counts together.
        size: bytes.
        type: ``float16[48, 32]``, or ``""``.
        note: what else there is to know, or ``""``.
    """

    level: int
    name: str
    size: int
    type: str = ""
    note: str = ""


def rows(part: Part, depth: int | None = None, fold: int | None = FOLD) -> Iterator[Row]:
    """Lines for ``part`` and what is in it, ``depth`` levels down; all of them where ``None``.

    The sizes of the lines one level below a line add up to its own.
    """
    yield from _rows(part, 0, depth, fold)


def _rows(part: Part, level: int, depth: int | None, fold: int | None) -> Iterator[Row]:
    yield Row(level, part.name, part.size, _type(part), part.note)
    if depth is not None and level >= depth:
        return
    ranked = sorted(_together(part.children), key=lambda group: -_total(group))
    shown = ranked if fold is None or len(ranked) <= fold else ranked[: fold - 1]
    for group in shown:
        if len(group) == 1:
            yield from _rows(group[0], level + 1, depth, fold)
        else:
            yield Row(level + 1, f"{group[0].name} ({len(group)} times)", _total(group))
    if rest := [part for group in ranked[len(shown) :] for part in group]:
        yield Row(level + 1, f"{len(rest)} smaller parts", _total(rest))


def _together(children: Sequence[Part]) -> list[list[Part]]:
    """Children one by one, but padding and tables of one name as one."""
    groups: dict[object, list[Part]] = {}
    for index, child in enumerate(children):
        key = child.name if child.kind in _FILLING else index
        groups.setdefault(key, []).append(child)
    return list(groups.values())


def _total(parts: Sequence[Part]) -> int:
    return sum(part.size for part in parts)


def _type(part: Part) -> str:
    if not part.dtype:
        return ""
    return part.dtype + (str(list(part.shape)) if part.shape is not None else "")
