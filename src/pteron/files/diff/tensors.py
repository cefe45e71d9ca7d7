"""Comparing tensors by name."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pteron.errors import UnsupportedError
from pteron.files.diff.change import Change
from pteron.files.diff.distance import Distance, distance

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_CHUNK = 1 << 20


@dataclass(frozen=True)
class NamedTensor:
    """A tensor somewhere in a file.

    Attributes:
        dtype: name of its element type, ``""`` for plain bytes.
        shape: its shape.
        data: its bytes as stored.
        read: makes the array.
        order: its dimensions from outermost to innermost as stored, or empty if in this order.
    """

    dtype: str
    shape: tuple[int, ...]
    data: memoryview
    read: Callable[[], NDArray[np.generic]]
    order: tuple[int, ...] = ()

    @property
    def type(self) -> str:
        """``float16[48, 32]``, with its dim order where that is not the usual one."""
        usual = not self.order or self.order == tuple(range(len(self.order)))
        order = "" if usual else f" in dim order {list(self.order)}"
        return f"{self.dtype or 'bytes'}{list(self.shape)}{order}"


Tensors = Mapping[str, NamedTensor]


def compare_tensors(before: Tensors, after: Tensors, where: tuple[str, ...]) -> Iterator[Change]:
    """Tensors that only one side has, and those that differ in type or value."""
    for name, one in before.items():
        other = after.get(name)
        if other is None:
            yield Change((*where, name), "removed", one.type)
        elif one.type != other.type or not same_bytes(one.data, other.data):
            yield from _differing(one, other, (*where, name))
    for name, other in after.items():
        if name not in before:
            yield Change((*where, name), "added", after=other.type)


def _differing(one: NamedTensor, other: NamedTensor, where: tuple[str, ...]) -> Iterator[Change]:
    apart = _distance(one, other)
    if apart is None or apart.differing or one.type != other.type:
        yield Change(where, "changed", one.type, other.type, apart)


def _distance(one: NamedTensor, other: NamedTensor) -> Distance | None:
    try:
        ours, theirs = one.read(), other.read()
    except UnsupportedError:
        return None
    if one.shape != other.shape or ours.shape != theirs.shape:  # bytes of a type NumPy lacks
        return None
    return distance(ours, theirs)


def same_bytes(one: memoryview, other: memoryview) -> bool:
    """Whether two buffers are equal (memoryviews compare element by element: too slow)."""
    return len(one) == len(other) and all(
        bytes(one[start : start + _CHUNK]) == bytes(other[start : start + _CHUNK])
        for start in range(0, len(one), _CHUNK)
    )
