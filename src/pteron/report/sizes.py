"""The tree of parts as the page takes it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from pteron.payloads import Part

_MOST = 4000
"""Parts of one parent that are listed one by one."""

_FILLING = ("padding", "tables")


def sizes(part: Part) -> dict[str, Any]:
    """Name ``n``, kind ``k``, bytes ``s``, and where it has them offset, type, note, children.

    Padding between the parts of one parent is added up, and so are the smallest parts of a parent
    with thousands.
    """
    plain: dict[str, Any] = {"n": part.name, "k": part.kind, "s": part.size, "o": part.offset}
    if part.dtype:
        plain["t"] = part.dtype + (str(list(part.shape)) if part.shape is not None else "")
    if part.note:
        plain["x"] = part.note
    if part.children:
        plain["c"] = list(_children(part.children))
    return plain


def _children(parts: Sequence[Part]) -> Iterator[dict[str, Any]]:
    ranked = sorted((p for p in parts if p.kind not in _FILLING), key=lambda p: -p.size)
    yield from map(sizes, ranked[:_MOST])
    if rest := ranked[_MOST:]:
        yield _together(f"{len(rest)} smaller parts", "rest", rest)
    for kind in _FILLING:
        if filling := [p for p in parts if p.kind == kind]:
            yield _together(filling[0].name, kind, filling)


def _together(name: str, kind: str, parts: Sequence[Part]) -> dict[str, Any]:
    counted = {"x": f"{len(parts)} places"} if len(parts) > 1 else {}
    return {"n": name, "k": kind, "s": sum(part.size for part in parts), "o": -1} | counted
