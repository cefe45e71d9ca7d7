"""Arrays at the border between callers, programs and engines."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.errors import UsageError

Array = NDArray[Any]


def as_array(value: object, dtype: np.dtype[Any], where: str) -> Array:
    """A NumPy view of anything array-like, without copying where the value allows.

    Python numbers and nested lists of them take ``dtype``; everything else keeps its own.
    Raises :class:`UsageError` for what is not an array, naming ``where``.
    """
    if isinstance(value, np.ndarray):
        return value
    if isinstance(value, (bool, int, float, list, tuple)):
        return _from_numbers(value, dtype, where)
    if "torch" in sys.modules and isinstance(value, sys.modules["torch"].Tensor):
        return _from_torch(value, where)
    if hasattr(value, "__dlpack__"):
        try:
            return np.from_dlpack(value)
        except (TypeError, RuntimeError, BufferError):
            pass  # a dtype or device that DLPack cannot hand to NumPy; __array__ may still do it
    if hasattr(value, "__array__"):
        try:
            return np.asarray(value)
        except (TypeError, ValueError, RuntimeError) as error:
            raise UsageError(f"{where}: cannot be read as an array: {error}") from None
    raise UsageError(f"{where}: expected an array, got {type(value).__name__}")


def _from_torch(tensor: Any, where: str) -> Array:
    """A tensor's memory, dtypes that NumPy lacks included."""
    from pteron.runtime.kernels.tensors import to_array

    try:
        array: Array = to_array(tensor.detach().cpu())
    except (TypeError, RuntimeError) as error:
        raise UsageError(f"{where}: cannot be read as an array: {error}") from None
    return array


def _from_numbers(value: object, dtype: np.dtype[Any], where: str) -> Array:
    try:
        return np.asarray(value, dtype=dtype)
    except (ValueError, TypeError, OverflowError) as error:
        raise UsageError(f"{where}: cannot be read as {dtype.name}: {error}") from None


def convert(array: Array, dtype: np.dtype[Any], shape: tuple[int, ...], where: str) -> Array:
    """The same values in another dtype and an equal-sized shape; refuses what would lose range.

    ExecuTorch hands int64 values to Core ML as int32, and rank-0 values as shape (1,); so do we,
    except that an integer which does not fit is an error instead of a wrapped number.
    """
    if array.dtype != dtype:
        array = _cast(array, dtype, where)
    return array if array.shape == shape else array.reshape(shape)


def _cast(array: Array, dtype: np.dtype[Any], where: str) -> Array:
    if array.dtype.kind in "iu" and dtype.kind in "iu" and array.size:
        limits = np.iinfo(dtype)
        low, high = int(array.min()), int(array.max())
        if low < limits.min or high > limits.max:
            worst = low if low < limits.min else high
            raise UsageError(f"{where}: {worst} does not fit the payload's {dtype.name}")
    return array.astype(dtype)
