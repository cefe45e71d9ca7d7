"""Changes as lines for people, under one heading per section."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from pteron.files.diff.change import Change
from pteron.files.diff.distance import Distance

FOLD = 20
"""Changes of one section that are shown; the rest is counted."""

_WIDTH = 70
_NAMED_SECTIONS = ("methods", "delegates")
_MARKS = {"added": "+", "removed": "-", "changed": "~"}


class Line(NamedTuple):
    """A heading (``mark`` is empty) or a change (``+``, ``-``, ``~``)."""

    mark: str
    text: str


def lines(changes: Sequence[Change], fold: int | None = FOLD) -> Iterator[Line]:
    """The changes grouped by section, in the order given; ``fold=None`` shows all of them."""
    sections: dict[str, list[Change]] = {}
    for change in changes:
        sections.setdefault(_section(change), []).append(change)
    for section, listed in sections.items():
        yield Line("", section)
        shown = listed if fold is None or len(listed) <= fold else listed[: fold - 1]
        depth = len(section.split(": "))
        yield from (Line(_MARKS[change.kind], _text(change, depth)) for change in shown)
        if len(shown) < len(listed):
            yield Line("~", f"and {len(listed) - len(shown)} more")


def _section(change: Change) -> str:
    head, *rest = change.where
    if head in _NAMED_SECTIONS and len(rest) > 1:
        return f"{head[:-1]}: {rest[0]}"
    return head.replace("_", " ")


def _text(change: Change, depth: int) -> str:
    name = " / ".join(change.where[depth:]) or change.where[-1].replace("_", " ")
    if change.kind != "changed":
        value = _short(change.after if change.kind == "added" else change.before)
        return f"{name}: {value}" if value else name
    if change.before == change.after:
        values = _short(change.before)
    else:
        values = f"{_short(change.before)} → {_short(change.after)}"
    return f"{name}: {values}{_distance(change.distance)}"


def _distance(distance: Distance | None) -> str:
    if distance is None:
        return ""
    counted = f", {distance.differing} of {distance.count} differ"
    return f"{counted}, by {distance.max_abs:.3g} at most, relatively {distance.relative:.3g}"


def _short(value: Any) -> str:
    """Leaves as they are, cut to a width; of a mapping nothing, its name says it."""
    if isinstance(value, Mapping):
        return ""
    if isinstance(value, list):
        value = f"{len(value)} steps: {', '.join(value)}" if _is_steps(value) else value
    text = str(value)
    return text if len(text) <= _WIDTH else f"{text[: _WIDTH - 1]}…"


def _is_steps(value: list[Any]) -> bool:
    return bool(value) and all(isinstance(item, str) for item in value)
