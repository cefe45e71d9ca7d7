"""Stored bytes as NumPy arrays."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pteron.dtypes import to_numpy
from pteron.errors import FormatError, UnsupportedError

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pteron.schema import bundled
    from pteron.schema.flat_tensor import TensorLayout
    from pteron.schema.program import Tensor


def tensor_array(
    layout: Tensor | TensorLayout | bundled.Tensor, data: memoryview, where: str
) -> NDArray[np.generic]:
    """A read-only view of ``data`` with the layout's dtype and logical shape.

    Dimensions that are stored in another order (channels last) are put back in the logical one by
    strides. A type that NumPy lacks gives :func:`raw_array`. Raises FormatError where the bytes are
    too few or the dim order is no permutation.
    """
    import numpy as np

    try:
        dtype: np.dtype[Any] = to_numpy(layout.scalar_type)
    except UnsupportedError:
        return raw_array(data)
    sizes, order = list(layout.sizes), list(layout.dim_order) or list(range(len(layout.sizes)))
    if sorted(order) != list(range(len(sizes))) or any(size < 0 for size in sizes):
        raise FormatError(f"sizes {sizes} do not go with dim order {order}", where=where)
    count = math.prod(sizes)
    if count * dtype.itemsize > len(data):
        raise FormatError(f"{len(data)} bytes are too few for {dtype.name}{sizes}", where=where)
    stored = np.frombuffer(data, dtype, count).reshape([sizes[axis] for axis in order])
    return stored.transpose([order.index(axis) for axis in range(len(sizes))])


def raw_array(data: memoryview) -> NDArray[np.uint8]:
    """The bytes themselves, as a one-dimensional read-only view."""
    import numpy as np

    return np.frombuffer(data, np.uint8)
