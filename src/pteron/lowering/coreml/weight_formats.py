"""Short names for how weights are stored: ``int8``, ``int4-block64``, ``palette4-group16``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from pteron.errors import UsageError

_NAME = re.compile(r"(?P<kind>int|palette)(?P<bits>\d)(?:-(?P<per>[a-z]+)(?P<size>[1-9]\d*)?)?")
_BITS = {"int": (4, 8), "palette": (1, 2, 3, 4, 6, 8)}
_SIZES = {"int": {"tensor": 0, "channel": 0, "block": 32}, "palette": {"tensor": 0, "group": 32}}
"""What shares a scale or a table, and how many elements or channels that are if not said."""
_USUAL = {("int", 8): "channel", ("int", 4): "block"}

SPELLING = (
    "int8, int4 (with -tensor, -channel or -block32: what shares a scale), palette1, palette2, "
    "palette3, palette4, palette6, palette8 (with -tensor or -group32: what shares a table)"
)


@dataclass(frozen=True)
class WeightFormat:
    """How the weights of a payload are stored.

    Attributes:
        kind: ``int`` (integers times a scale) or ``palette`` (indices into a table).
        bits: of each integer or index.
        per: what shares a scale or table: ``tensor``, ``channel``, ``block`` or ``group``.
        size: elements of a block, or output channels of a group; 0 where neither.
    """

    kind: str
    bits: int
    per: str
    size: int

    @property
    def needs_ios18(self) -> bool:
        """Whether only iOS 18 (specification version 9) can store it so; iOS 16 has the others."""
        if self.kind == "int":
            return self.bits == 4 or self.per == "block"
        return self.bits == 3 or self.per == "group"


def parse(name: str) -> WeightFormat:
    """The format of that name. Raises :class:`UsageError` that lists the names."""
    match = _NAME.fullmatch(name)
    if match is None:
        raise _unknown(name)
    kind, bits = match["kind"], int(match["bits"])
    per = match["per"] or _USUAL.get((kind, bits), "tensor")
    sizes = _SIZES[kind]
    if bits not in _BITS[kind] or per not in sizes or (match["size"] and not sizes[per]):
        raise _unknown(name)
    return WeightFormat(kind, bits, per, int(match["size"] or sizes[per]))


def _unknown(name: str) -> UsageError:
    return UsageError(f"weights={name!r}: must be one of {SPELLING}")
