"""Constants of an XNNPACK payload as arrays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from pteron.errors import FormatError, UnsupportedError
from pteron.payloads.xnnpack.graph import Use

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_NUMPY = {
    "float32": "<f4",
    "float16": "<f2",
    "int32": "<i4",
    "qint32": "<i4",
    "qcint32": "<i4",
    "qint8": "i1",
    "qcint8": "i1",
    "quint8": "u1",
}
_NIBBLES = ("qcint4", "qbint4")


def read_elements(data: memoryview, use: Use) -> NDArray[np.generic]:
    """The elements in ``use.shape``; quantised ones as the integers that are stored.

    Four-bit types come as int8 from -8 to 7; XNNPACK stores them plus 8, two per byte, the first in
    the low half, each row starting on a byte. Raises FormatError when the size does not fit the
    shape, UnsupportedError for a type that is never constant.
    """
    import numpy as np

    if use.dtype in _NIBBLES:
        return _nibbles(data, use)
    if use.dtype == "bfloat16":
        import ml_dtypes

        dtype = np.dtype(ml_dtypes.bfloat16)
    elif use.dtype in _NUMPY:
        dtype = np.dtype(_NUMPY[use.dtype])
    else:
        raise UnsupportedError(f"{use.name}: cannot read constants of type {use.dtype}")
    _check_size(data, math.prod(use.shape) * dtype.itemsize, use)
    return np.frombuffer(data, dtype).reshape(use.shape)


def _nibbles(data: memoryview, use: Use) -> NDArray[np.int8]:
    import numpy as np

    from pteron.payloads.packed import unpack

    *rows, columns = use.shape or (1,)
    row_bytes = -(-columns // 2)
    _check_size(data, math.prod(rows) * row_bytes, use)
    unpacked = unpack(data, 4, 2 * len(data), signed=False).reshape(*rows, 2 * row_bytes)
    return unpacked[..., :columns].astype(np.int8) - np.int8(8)


def _check_size(data: memoryview, size: int, use: Use) -> None:
    if len(data) != size:
        raise FormatError(
            f"{len(data)} bytes, {size} expected for {use.dtype} {use.shape}", where=use.name
        )
