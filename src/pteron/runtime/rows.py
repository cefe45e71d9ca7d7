"""``executorch_prim::et_copy_index``: one row of a tensor that a loop fills.

It takes the tensor, the row and the row's number; the tensor has as many rows as were written
(``et_copy_index.cpp``: it is resized to ``index + 1`` rows at every call, within its memory).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pteron.errors import EngineError
from pteron.runtime.arrays import Array
from pteron.runtime.kernels.constants import refuse_constant

WRITE_ROW = "executorch_prim::et_copy_index.tensor"


def write_row(whole: Array, values: list[Any], args: Sequence[int]) -> None:
    """Do one call on a plan's values; ``whole`` is all the memory of the tensor to fill."""
    target, source, position = args[0], values[args[1]], values[args[2]]
    refuse_constant(whole, WRITE_ROW)
    if not (isinstance(whole, np.ndarray) and isinstance(source, np.ndarray)):
        raise EngineError(f"{WRITE_ROW}: takes two tensors and a number", op=WRITE_ROW)
    flat, rows = whole.reshape(-1), int(position) + 1
    end = rows * source.size
    if rows < 1 or end > flat.size:
        raise EngineError(f"{WRITE_ROW}: there is no row {position}", op=WRITE_ROW)
    flat[end - source.size : end] = source.reshape(-1)
    values[target] = flat[:end].reshape(rows, *source.shape)
