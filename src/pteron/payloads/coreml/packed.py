"""Elements of fewer than eight bits, packed without gaps, the first in the lowest bits."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from pteron.payloads.coreml.blob_types import BlobType

if TYPE_CHECKING:
    from numpy.typing import NDArray


def unpack(data: memoryview, kind: BlobType, count: int) -> NDArray[np.generic]:
    """``count`` elements as a 1-D array of int8 (int4) or uint8 (the unsigned types)."""
    group = math.lcm(kind.bits, 8) // 8  # bytes after which elements start on a byte again
    shifts = np.arange(0, 8 * group, kind.bits)
    words = _words(np.frombuffer(data, np.uint8), group)
    elements = (words[:, None] >> shifts.astype(words.dtype)) & ((1 << kind.bits) - 1)
    unsigned: NDArray[np.uint8] = elements.astype(np.uint8, copy=False).reshape(-1)[:count]
    if kind.name != "int4":
        return unsigned
    signed: NDArray[np.int8] = (unsigned.view(np.int8) << 4) >> 4  # the sign is carried down
    return signed


def _words(data: NDArray[np.uint8], group: int) -> NDArray[np.uint8] | NDArray[np.uint32]:
    """One number per ``group`` bytes, little-endian."""
    if group == 1:
        return data
    padded = np.zeros((-(-len(data) // group), 4), np.uint8)
    padded[:, :group].flat[: len(data)] = data
    return padded.view("<u4").reshape(-1)
