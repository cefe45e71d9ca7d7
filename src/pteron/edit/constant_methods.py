"""Add methods that only return constants: metadata such as ``get_max_seq_len``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from pteron.dtypes import from_numpy
from pteron.edit import pytree
from pteron.edit.tensor_bytes import in_dim_order
from pteron.errors import UsageError
from pteron.files import Parts, PTEFile
from pteron.schema.program import (
    Bool,
    Chain,
    ContainerMetadata,
    Double,
    EValue,
    ExecutionPlan,
    Int,
    KernelTypes,
    String,
    Tensor,
)


def add_constant_methods(file: PTEFile, values: Mapping[str, object]) -> PTEFile:
    """The program with a method for each name, which takes nothing and returns the value.

    They are what ExecuTorch emits for ``constant_methods`` (``exir/emit/_emitter.py``,
    ``_emit_prim_getters``).

    Args:
        values: method name -> bool, int (64 bits), float, str, array, or lists, tuples and dicts
            of them, which are flattened into several outputs. An array is anything that
            ``numpy.asarray`` takes with ``__array__``; it is stored contiguous.

    Raises UsageError for a name that is in use, another kind of value, or none at all (``[]``).
    """
    parts = file.parts()
    taken = {plan.name for plan in parts.program.execution_plan}
    for name, value in values.items():
        if not name or name in taken:
            raise UsageError(f"there is a method {name!r} already" if name else "a name is empty")
        parts.program.execution_plan.append(_plan(parts, name, value))
    return PTEFile(**vars(parts))


def _plan(parts: Parts, name: str, value: object) -> ExecutionPlan:
    leaves, spec = pytree.flatten(value)
    if not leaves:
        raise UsageError(f"{name}: {value!r} holds no value, so the method would return nothing")
    return ExecutionPlan(
        name=name,
        container_meta_type=ContainerMetadata("", spec),
        values=[EValue(_constant(parts, name, leaf)) for leaf in leaves],
        outputs=list(range(len(leaves))),
        chains=[Chain()],
        non_const_buffer_sizes=[0],
    )


def _constant(parts: Parts, name: str, leaf: object) -> KernelTypes:
    if isinstance(leaf, bool):
        return Bool(leaf)
    if isinstance(leaf, float):
        return Double(float(leaf))
    if isinstance(leaf, int):
        if not -(1 << 63) <= leaf < 1 << 63:
            raise UsageError(f"{name}: {leaf} does not fit 64 bits")
        return Int(int(leaf))
    if isinstance(leaf, str):
        return String(leaf)
    if hasattr(leaf, "__array__"):
        return _tensor(parts, leaf)
    raise UsageError(f"{name}: a constant method cannot return a {type(leaf).__name__}")


def _tensor(parts: Parts, leaf: Any) -> Tensor:
    array = np.asarray(leaf)
    array = array.astype(array.dtype.newbyteorder("="), copy=False)
    parts.constants = [*parts.constants, in_dim_order(array, [], "constant")]
    return Tensor(
        scalar_type=from_numpy(array.dtype),
        sizes=list(array.shape),
        dim_order=list(range(array.ndim)),
        data_buffer_idx=len(parts.constants) - 1,
    )
