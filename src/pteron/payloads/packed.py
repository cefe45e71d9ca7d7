"""Elements of fewer than eight bits, packed without gaps, the first in the lowest bits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def unpack(data: memoryview, bits: int, count: int, *, signed: bool) -> NDArray[np.generic]:
    """``count`` elements of ``bits`` bits as a 1-D array of int8 or uint8."""
    group = math.lcm(bits, 8) // 8  # bytes after which elements start on a byte again
    shifts = np.arange(0, 8 * group, bits)
    words = _words(np.frombuffer(data, np.uint8), group)
    elements = (words[:, None] >> shifts.astype(words.dtype)) & ((1 << bits) - 1)
    unsigned: NDArray[np.uint8] = elements.astype(np.uint8, copy=False).reshape(-1)[:count]
    if not signed:
        return unsigned
    spare = 8 - bits
    extended: NDArray[np.int8] = (unsigned.view(np.int8) << spare) >> spare
    return extended


def pack(elements: NDArray[np.generic], bits: int) -> bytes:
    """The reverse of :func:`unpack`: elements of int8 or uint8 as a run of ``bits`` bits each."""
    digits = np.unpackbits(elements.view(np.uint8).reshape(-1, 1), axis=1, bitorder="little")
    return np.packbits(digits[:, :bits], bitorder="little").tobytes()


def _words(data: NDArray[np.uint8], group: int) -> NDArray[np.uint8] | NDArray[np.uint32]:
    """One number per ``group`` bytes, little-endian."""
    if group == 1:
        return data
    padded = np.zeros((-(-len(data) // group), 4), np.uint8)
    padded[:, :group].flat[: len(data)] = data
    return padded.view("<u4").reshape(-1)
