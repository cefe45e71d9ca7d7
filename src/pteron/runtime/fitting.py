"""A caller's value as a state's owner must hold it, or one clear error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from pteron.errors import StateError
from pteron.runtime.arrays import Array, as_array

if TYPE_CHECKING:
    from pteron.runtime.state import StateEntry


def fitted(entry: StateEntry, value: object) -> Array:
    """``value`` in the entry's dtype and shape.

    Floats are rounded; whole numbers must be in range. Raises :class:`StateError` where shape or
    kind differ, or where a number is too large.
    """
    array = _as_array(value, entry)
    expected, came = _described(entry.dtype, entry.shape), _described(array.dtype, array.shape)
    if array.shape != entry.shape or not _same_kind(array.dtype, entry.dtype):
        raise StateError(f"state '{entry.name}' is {expected}, got {came}")
    if array.dtype == entry.dtype:
        return array
    with np.errstate(over="ignore", invalid="ignore"):
        cast = array.astype(entry.dtype)
    if np.any(np.isfinite(array) & (_changed(array, cast) | ~np.isfinite(cast))):
        raise StateError(f"state '{entry.name}' is {expected}: a value is too large for it")
    return cast


def _as_array(value: object, entry: StateEntry) -> Array:
    if not isinstance(value, (bool, int, float, list, tuple)):
        return as_array(value, entry.dtype, f"state '{entry.name}'")
    try:
        return np.asarray(value)  # in a dtype of its own, so that no number is lost unseen
    except (ValueError, TypeError, OverflowError) as error:
        raise StateError(f"state '{entry.name}': cannot be read as an array: {error}") from None


def _same_kind(came: np.dtype[Any], expected: np.dtype[Any]) -> bool:
    whole = "iu"
    if expected.kind in whole:
        return came.kind in whole + "b"
    return bool(np.can_cast(came, expected, "same_kind"))


def _changed(array: Array, cast: Array) -> Array | bool:
    """Where a whole number is another one now; floats may be rounded."""
    return cast != array if cast.dtype.kind in "iu" else False


def _described(dtype: np.dtype[Any], shape: tuple[int, ...]) -> str:
    return f"{dtype.name}[{', '.join(map(str, shape))}]"
