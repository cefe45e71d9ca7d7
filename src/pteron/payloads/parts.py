"""What a run of bytes is made of: a tree whose sizes add up exactly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace


@dataclass(frozen=True)
class Part:
    """A named run of bytes.

    Attributes:
        name: what it is called in its parent.
        kind: ``file``, ``weight``, ``header``, ``padding``, ...: for grouping and colour.
        offset: first byte, counted from the start of the outermost part.
        size: bytes; the sum of the children's sizes if it has any.
        dtype: element type of a weight, or ``""``.
        shape: sizes of a weight's axes, or ``None`` where it has none or they are unknown.
        note: what else a reader wants to know (which op reads a weight), or ``""``.
        children: what it is made of, in order of offset, without gaps.
    """

    name: str
    kind: str
    offset: int
    size: int
    dtype: str = ""
    shape: tuple[int, ...] | None = None
    note: str = ""
    children: tuple[Part, ...] = field(default=())

    def moved(self, distance: int) -> Part:
        """The same part and everything in it, ``distance`` bytes further on."""
        children = tuple(child.moved(distance) for child in self.children)
        return replace(self, offset=self.offset + distance, children=children)

    def walk(self) -> Iterator[Part]:
        """This part, then everything in it, depth first."""
        yield self
        for child in self.children:
            yield from child.walk()


def fill(
    parts: Iterable[Part], start: int, end: int, name: str = "padding", kind: str = "padding"
) -> tuple[Part, ...]:
    """``parts`` in order of offset with every gap between ``start`` and ``end`` made a part.

    Parts of no size are left out. A part that begins before the one ahead of it ends cannot be
    counted twice and is left out too; so the result covers ``start`` to ``end`` exactly.
    """
    result: list[Part] = []
    position = start
    for part in sorted(parts, key=lambda part: (part.offset, -part.size)):
        if part.size == 0 or part.offset < position or part.offset + part.size > end:
            continue
        if part.offset > position:
            result.append(Part(name, kind, position, part.offset - position))
        result.append(part)
        position = part.offset + part.size
    if position < end:
        result.append(Part(name, kind, position, end - position))
    return tuple(result)
