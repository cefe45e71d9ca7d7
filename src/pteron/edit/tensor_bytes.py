"""The bytes that a tensor's values have in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pteron.dtypes import scalar_type_name, to_numpy
from pteron.errors import FormatError, UsageError

if TYPE_CHECKING:
    from pteron.schema.flat_tensor import TensorLayout
    from pteron.schema.program import Tensor

Array = np.ndarray[Any, np.dtype[Any]]


def tensor_bytes(layout: Tensor | TensorLayout, values: Array, where: str) -> memoryview:
    """``values`` as a tensor of that scalar type, shape and dim order stores them.

    Raises:
        UsageError: the array has another dtype or shape; nothing is converted.
        UnsupportedError: the scalar type has no NumPy dtype.
        FormatError: the tensor's dim order is none.
    """
    wanted = to_numpy(layout.scalar_type)
    array = in_native_order(values, wanted)
    if array.dtype != wanted or array.shape != tuple(layout.sizes):
        shape = f"{scalar_type_name(layout.scalar_type)}{list(layout.sizes)}"
        raise UsageError(
            f"{where} is {shape}; the array is {values.dtype.name}{list(values.shape)}"
        )
    return in_dim_order(array, layout.dim_order, where)


def in_dim_order(array: Array, dim_order: list[int], where: str) -> memoryview:
    """The elements of ``array``, its dims from outermost to innermost as ``dim_order`` says."""
    order = dim_order or list(range(array.ndim))
    if sorted(order) != list(range(array.ndim)):
        raise FormatError(f"dim order {order} does not fit {array.ndim} dims", where=where)
    stored = np.ascontiguousarray(array.transpose(order)).reshape(-1)
    return stored.view(np.uint8).data.toreadonly() if stored.size else memoryview(b"")


def in_native_order(array: Array, wanted: np.dtype[Any]) -> Array:
    """The array in this machine's byte order, and .npy's nameless 16-bit elements by their name.

    NumPy saves dtypes that are not its own, such as bfloat16, as bytes of their size.
    """
    if array.dtype.type is np.void and array.dtype.names is None and wanted.kind == "V":
        return array.view(wanted) if array.dtype.itemsize == wanted.itemsize else array
    return array.astype(array.dtype.newbyteorder("="), copy=False)
