"""Sizes and ages as people write them."""

from __future__ import annotations

import re

from pteron.errors import UsageError

_SIZES = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30, "T": 1 << 40}
_SIZE = re.compile(r"(\d+(?:\.\d+)?)\s*([KMGT]?)(?:i?B)?", re.IGNORECASE | re.ASCII)
_AGES = {"": 1, "s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}
_AGE = re.compile(r"(\d+(?:\.\d+)?)\s*([smhdw]?)", re.ASCII)


def parse_size(text: str) -> int:
    """Bytes in ``1500``, ``500M``, ``10GiB`` (K, M, G and T are powers of 1024).

    Raises:
        UsageError: the text is not a size.
    """
    match = _SIZE.fullmatch(text.strip())
    if not match:
        raise UsageError(f"{text!r} is not a size; write a number of bytes, or 500M, 10G, 1.5T")
    return int(float(match[1]) * _SIZES[match[2].upper()])


def parse_age(text: str) -> float:
    """Seconds in ``90``, ``45m``, ``12h``, ``30d``, ``2w``.

    Raises:
        UsageError: the text is not an age.
    """
    match = _AGE.fullmatch(text.strip())
    if not match:
        raise UsageError(f"{text!r} is not an age; write seconds, or 45m, 12h, 30d, 2w")
    return float(match[1]) * _AGES[match[2]]
