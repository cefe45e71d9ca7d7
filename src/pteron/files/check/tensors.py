"""Tensors: their own description, and their data."""

from __future__ import annotations

from collections.abc import Iterator

from pteron.dtypes import ScalarType
from pteron.errors import FormatError
from pteron.files.blobs import Blobs
from pteron.files.check.finding import Finding, error, warning
from pteron.files.program_file import PTEFile
from pteron.files.tensors import is_external
from pteron.schema.program import Tensor, TensorShapeDynamism

SCALAR_TYPES = frozenset(ScalarType)
"""Numbers that the schema gives a meaning; others stay plain ints when read."""

_DYNAMISMS = frozenset(TensorShapeDynamism)


def check_tensors(file: PTEFile) -> Iterator[Finding]:
    """Every tensor of every method."""
    blobs = Blobs(file.program, file.segments)
    for number, plan in enumerate(file.program.execution_plan):
        for index, value in enumerate(plan.values):
            if isinstance(value.val, Tensor):
                where = f"execution_plan[{number}].values[{index}].val"
                found = list(_check_shape(value.val, where))
                yield from found or _check_data(value.val, blobs, where)


def _check_shape(tensor: Tensor, where: str) -> Iterator[Finding]:
    if tensor.scalar_type not in SCALAR_TYPES:
        yield error(f"{where}.scalar_type", f"unknown scalar type {tensor.scalar_type}")
    if any(size < 0 for size in tensor.sizes):
        yield error(f"{where}.sizes", f"{tensor.sizes} has a negative size")
    if tensor.storage_offset:
        yield error(f"{where}.storage_offset", f"is {tensor.storage_offset}; runtimes need 0")
    if tensor.shape_dynamism not in _DYNAMISMS:
        yield error(f"{where}.shape_dynamism", f"unknown value {tensor.shape_dynamism}")
    if sorted(tensor.dim_order) != list(range(len(tensor.sizes))):
        yield error(
            f"{where}.dim_order",
            f"{tensor.dim_order} is not an order of {len(tensor.sizes)} dimensions",
        )


def _check_data(tensor: Tensor, blobs: Blobs, where: str) -> Iterator[Finding]:
    if is_external(tensor):
        info = tensor.extra_tensor_info
        if info is None or not info.fully_qualified_name:
            yield error(f"{where}.extra_tensor_info", "external data needs a fully_qualified_name")
        return
    try:
        data = blobs.of_tensor(tensor)
    except FormatError as fault:
        yield error(f"{where}.data_buffer_idx", f"{tensor.data_buffer_idx}: {fault.problem}")
        return
    dynamic = tensor.shape_dynamism != TensorShapeDynamism.STATIC
    if data is not None and dynamic and tensor.allocation_info is None:
        yield warning(f"{where}.shape_dynamism", "a constant has a dynamic shape")
