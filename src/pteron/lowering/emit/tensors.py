"""What a program says about a tensor: sizes, order of dimensions, bytes."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from pteron.dtypes import ScalarType, itemsize
from pteron.errors import LoweringError
from pteron.schema.program import Tensor, TensorShapeDynamism

if TYPE_CHECKING:
    import torch


def scalar_type(dtype: torch.dtype) -> ScalarType:
    """Scalar type of a torch dtype (same numbers in both).

    Raises :class:`LoweringError` for one that ExecuTorch's schema lacks, such as complex64.
    """
    import torch

    names = {
        torch.uint8: ScalarType.BYTE,
        torch.int8: ScalarType.CHAR,
        torch.int16: ScalarType.SHORT,
        torch.int32: ScalarType.INT,
        torch.int64: ScalarType.LONG,
        torch.float16: ScalarType.HALF,
        torch.float32: ScalarType.FLOAT,
        torch.float64: ScalarType.DOUBLE,
        torch.bool: ScalarType.BOOL,
        torch.bfloat16: ScalarType.BFLOAT16,
        torch.uint16: ScalarType.UINT16,
        torch.uint32: ScalarType.UINT32,
        torch.uint64: ScalarType.UINT64,
    }
    if dtype not in names:
        raise LoweringError(f"ExecuTorch programs have no scalar type for {dtype}")
    return names[dtype]


def describe(value: Any) -> Tensor:
    """The schema's record of a tensor's type; the caller says where its bytes are.

    A symbolic size is recorded at its upper bound (program.fbs, table Tensor: sizes).
    """
    sizes = [upper_bound(size) for size in value.shape]
    dynamic = any(not isinstance(size, int) for size in value.shape)
    return Tensor(
        scalar_type=scalar_type(value.dtype),
        storage_offset=0,
        sizes=sizes,
        dim_order=list(range(len(sizes))),
        requires_grad=False,
        layout=0,
        data_buffer_idx=0,
        allocation_info=None,
        shape_dynamism=(
            TensorShapeDynamism.DYNAMIC_BOUND if dynamic else TensorShapeDynamism.STATIC
        ),
        extra_tensor_info=None,
    )


def nbytes(tensor: Tensor) -> int:
    """Bytes of a tensor at its largest."""
    return math.prod(tensor.sizes) * itemsize(tensor.scalar_type)


def upper_bound(size: Any) -> int:
    """The largest value of a size. Raises :class:`LoweringError` for an unbounded one."""
    if isinstance(size, int):
        return size
    from torch.utils._sympy.numbers import int_oo

    bound = size.node.shape_env.bound_sympy(size.node.expr).upper
    if bound is int_oo or not bound.is_finite or int(bound) >= 2**31:
        raise LoweringError(
            f"size {size} has no upper bound: give one in dynamic_shapes, as in Dim('n', max=64)"
        )
    return int(bound)


def content(tensor: torch.Tensor) -> memoryview:
    """A tensor's bytes in row-major order, without copying where it already lies so."""
    import torch

    flat = tensor.detach().cpu().contiguous().reshape(-1)
    return memoryview(flat.view(torch.uint8).numpy()) if flat.numel() else memoryview(b"")
