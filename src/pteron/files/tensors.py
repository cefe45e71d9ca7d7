"""Bytes of a schema tensor, and where a program file keeps its initial value."""

from __future__ import annotations

import math
from collections.abc import Iterator

from pteron.dtypes import itemsize
from pteron.schema.bundled import Tensor as BundledTensor
from pteron.schema.flat_tensor import TensorLayout
from pteron.schema.program import Program, Tensor, TensorDataLocation


def byte_size(tensor: Tensor) -> int:
    """Bytes of a tensor's data; of its upper bound where its shape is dynamic.

    Raises :class:`~pteron.errors.UnsupportedError` for a scalar type that the schema lacks.
    """
    return math.prod(tensor.sizes) * itemsize(tensor.scalar_type)


def layout_byte_size(layout: TensorLayout | BundledTensor) -> int:
    """Bytes of what a layout describes, for a known scalar type and sizes that are not negative."""
    return math.prod(layout.sizes) * itemsize(layout.scalar_type)


def is_external(tensor: Tensor) -> bool:
    """Whether the data is in another file, under the tensor's name."""
    info = tensor.extra_tensor_info
    return info is not None and info.location == TensorDataLocation.EXTERNAL


def is_constant(tensor: Tensor) -> bool:
    """Whether ``data_buffer_idx`` counts constants, not initial values of mutable tensors."""
    return tensor.allocation_info is None


def mutable_segment_index(tensor: Tensor) -> int:
    """Index into ``Program.mutable_data_segments`` for a mutable tensor."""
    info = tensor.extra_tensor_info
    return info.mutable_data_segments_idx if info is not None else 0


def stored_tensors(program: Program) -> Iterator[Tensor]:
    """Every tensor of every method whose data or initial value is in the file."""
    for plan in program.execution_plan:
        for value in plan.values:
            tensor = value.val
            if isinstance(tensor, Tensor) and tensor.data_buffer_idx and not is_external(tensor):
                yield tensor
