"""What a program's values hold before the first instruction."""

from __future__ import annotations

from collections.abc import Callable
from math import prod
from typing import Any

import numpy as np

from pteron.dtypes import to_numpy
from pteron.errors import FormatError, UnsupportedError
from pteron.runtime.arrays import Array
from pteron.runtime.memory import PlannedMemory, in_dim_order
from pteron.schema import program as schema

DataOf = Callable[[schema.Tensor], "memoryview | None"]
"""Bytes of a tensor's constant or first value, if the program has any."""

_LISTS = (schema.IntList, schema.TensorList, schema.OptionalTensorList)


def first_value(value: schema.EValue, data_of: DataOf, memory: PlannedMemory | None) -> Any:
    """A constant's array, a planned tensor's memory with its first value in it, a scalar, or None.

    Lists of values are resolved when used, since their members change; here they are None.
    """
    match value.val:
        case schema.Tensor():
            return _first_tensor(value.val, data_of(value.val), memory)
        case schema.Int():
            return value.val.int_val
        case schema.Double():
            return value.val.double_val
        case schema.Bool():
            return value.val.bool_val
        case schema.String():
            return value.val.string_val
        case schema.DoubleList() | schema.BoolList():
            return list(value.val.items)
        case None | schema.Null():
            return None
        case other if isinstance(other, _LISTS):
            return None
        case other:
            raise UnsupportedError(f"a value of type {type(other).__name__} cannot be run")


def _first_tensor(
    tensor: schema.Tensor, data: memoryview | None, memory: PlannedMemory | None
) -> Array | None:
    if tensor.allocation_info is None:
        return None if data is None else _constant(tensor, data)
    if memory is None:
        return None
    view = memory.view(tensor)
    if data is not None:
        np.copyto(view, _constant(tensor, data))
    return view


def _constant(tensor: schema.Tensor, data: memoryview) -> Array:
    dtype, count = to_numpy(tensor.scalar_type), prod(tensor.sizes)
    if len(data) < count * dtype.itemsize:
        raise FormatError(
            f"a {dtype.name} tensor of sizes {tensor.sizes} has only {len(data)} bytes of data"
        )
    return in_dim_order(np.frombuffer(data, dtype, count), tensor.sizes, tensor.dim_order)


def is_dynamic(value: schema.EValue) -> bool:
    """Whether a value is a tensor whose shape is known at run time only."""
    tensor = value.val
    if not isinstance(tensor, schema.Tensor):
        return False
    return tensor.shape_dynamism != schema.TensorShapeDynamism.STATIC
