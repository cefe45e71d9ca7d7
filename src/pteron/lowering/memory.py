"""Where values live while a method runs: offsets in an arena, shared by values of other times."""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from typing import Generic, TypeVar

_K = TypeVar("_K", bound=Hashable)

ALIGNMENT = 16
"""Bytes; the alignment ExecuTorch's own planner gives every tensor."""


@dataclass(frozen=True)
class Lifetime:
    """A value's size in bytes, and the first and the last instruction that touches it."""

    size: int
    first: int
    last: int

    def overlaps(self, other: Lifetime) -> bool:
        """Whether both values are needed at some instruction."""
        return self.first <= other.last and other.first <= self.last


@dataclass(frozen=True)
class Arena(Generic[_K]):
    """Offset in bytes of every value, and the size of the whole."""

    offsets: Mapping[_K, int]
    size: int


def align(size: int) -> int:
    """The next multiple of :data:`ALIGNMENT`."""
    return -(-size // ALIGNMENT) * ALIGNMENT


def plan(values: Mapping[_K, Lifetime]) -> Arena[_K]:
    """Greedy by size: the largest value first, each in the tightest gap free all its life."""
    placed: list[tuple[int, int, Lifetime]] = []  # (offset, end, lifetime), ascending
    offsets: dict[_K, int] = {}
    for key, lifetime in sorted(values.items(), key=lambda item: -item[1].size):
        size = align(lifetime.size)
        offset = _gap(size, [(o, e) for o, e, other in placed if lifetime.overlaps(other)])
        placed.append((offset, offset + size, lifetime))
        placed.sort(key=lambda entry: entry[0])
        offsets[key] = offset
    return Arena(offsets, max((end for _, end, _ in placed), default=0))


def _gap(size: int, taken: Iterable[tuple[int, int]]) -> int:
    """Start of the tightest gap of ``size`` bytes between ascending intervals, or their end."""
    best, tightest, end = None, None, 0
    for start, stop in taken:
        room = start - end
        if room >= size and (tightest is None or room < tightest):
            best, tightest = end, room
        end = max(end, stop)
    return end if best is None else best


def side_by_side(sizes: Mapping[_K, int]) -> Arena[_K]:
    """Every value for itself, in order: for values that outlive a call."""
    offsets: dict[_K, int] = {}
    end = 0
    for key, size in sizes.items():
        offsets[key] = end
        end += align(size)
    return Arena(offsets, end)
