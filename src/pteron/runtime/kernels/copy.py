"""The write-back of program-owned state."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pteron.runtime.kernels.constants import refuse_constant

COPY = "aten::copy_"


def copy_(arguments: list[Any], _dynamic: Sequence[int]) -> Any:
    """``copy_(self, src, non_blocking)``: overwrite in place, broadcasting ``src``."""
    target, source = arguments[0], arguments[1]
    refuse_constant(target, COPY)
    np.copyto(target, source, casting="unsafe")
    return target
