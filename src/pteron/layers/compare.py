"""How far a value is from the one it should be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from pteron.runtime.arrays import Array
from pteron.runtime.verify import EXACT, Tolerance


@dataclass(frozen=True)
class Divergence:
    """A value that is not what PyTorch computes.

    Attributes:
        method: the method's name.
        case: position among the method's cases.
        step: which call of the case it was, state kept in between; from 0.
        value: the node of the exported graph.
        op: its operator (``aten.linear.default``).
        line: the line of the model that it comes from, or ``""``.
        place: where the program computes it: ``delegate 0: linear_1_cast_fp16``, ``instruction 3``.
        dtype: dtype of the program's value; the tolerance goes by it.
        largest: largest absolute difference; infinite where shapes differ.
        relative: that difference as a part of the largest element that is expected.
        tolerance: what was allowed.
    """

    method: str
    case: int
    step: int
    value: str
    op: str
    line: str
    place: str
    dtype: str
    largest: float
    relative: float
    tolerance: Tolerance

    def __str__(self) -> str:
        at = f" at {self.line}" if self.line else ""
        return (
            f"{self.method}, case {self.case}, call {self.step}: {self.value} ({self.op}){at} "
            f"differs by {self.largest:.3g}, {self.relative:.2%} of its largest element; "
            f"{self.dtype} may by {self.tolerance.rtol:.2%}; {self.place}"
        )


def distance(
    value: Array, expected: Array, tolerances: Mapping[str, Tolerance]
) -> tuple[bool, float, float, Tolerance]:
    """Whether a value is near enough, its largest difference, that as a part, and the tolerance.

    A layer's small elements are differences of large ones, so the difference is judged by the
    largest element: ``atol + rtol * max(abs(expected))``.
    """
    tolerance = tolerances.get(value.dtype.name, EXACT)
    if value.shape != expected.shape:
        return False, float("inf"), float("inf"), tolerance
    a, b = value.astype(np.float64), expected.astype(np.float64)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    with np.errstate(invalid="ignore"):
        largest = float(np.max(np.where(same, 0, np.abs(a - b)), initial=0))
    scale = float(np.max(np.abs(b[np.isfinite(b)]), initial=0))
    near = bool(same.all()) or largest <= tolerance.atol + tolerance.rtol * scale
    return near, largest, largest / scale if scale else largest, tolerance
