"""How far apart two tensors of one shape are."""

from __future__ import annotations

import math
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_CHUNK = 1 << 20


@dataclass(frozen=True)
class Distance:
    """Distance of two tensors, computed in float64.

    Attributes:
        differing: how many elements differ.
        count: how many elements there are.
        max_abs: largest absolute difference; NaN where just one of two elements is NaN.
        mean_abs: mean absolute difference.
        relative: root of the sum of squared differences over that of the first tensor's squares.
    """

    differing: int
    count: int
    max_abs: float
    mean_abs: float
    relative: float

    def as_json(self) -> dict[str, Any]:
        """Plain data; what JSON has no number for is text."""
        return {
            name: value if math.isfinite(value) else str(value)
            for name, value in asdict(self).items()
        }


def distance(one: NDArray[np.generic], other: NDArray[np.generic]) -> Distance:
    """Compare element by element, a chunk at a time so that large tensors need little memory.

    Equal infinities and two NaNs count as equal.
    """
    import numpy as np

    a, b = one.reshape(-1), other.reshape(-1)
    differing, largest, total, squares, norm = 0, 0.0, 0.0, 0.0, 0.0
    with np.errstate(invalid="ignore", over="ignore"):
        for start in range(0, a.size, _CHUNK):
            x = a[start : start + _CHUNK].astype(np.float64)
            y = b[start : start + _CHUNK].astype(np.float64)
            same = (x == y) | (np.isnan(x) & np.isnan(y))
            gap = np.where(same, 0.0, np.abs(x - y))
            differing += int(x.size - np.count_nonzero(same))
            largest = float(np.maximum(largest, gap.max()))
            total += float(gap.sum())
            squares += float(np.square(gap).sum())
            norm += float(np.square(x[np.isfinite(x)]).sum())
    relative = math.sqrt(squares / norm) if norm else (math.inf if squares else 0.0)
    return Distance(differing, a.size, largest, total / max(a.size, 1), relative)
