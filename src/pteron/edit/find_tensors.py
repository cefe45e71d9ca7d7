"""Tensors with data in the file, found by name, by constant index, or by place."""

from __future__ import annotations

from pteron.edit.blob_indices import constant_tensors
from pteron.edit.plans import find_plan
from pteron.errors import UsageError
from pteron.files.tensors import stored_tensors
from pteron.schema.program import Program, Tensor
from pteron.suggestions import listed, meant

Target = str | int | tuple[str, int]
"""A tensor's name, an index into ``PTEFile.constants``, or (method, index of a value)."""


def find_tensors(program: Program, target: Target) -> list[Tensor]:
    """Every tensor that ``target`` means, all with data in the file.

    A name is ``fully_qualified_name`` (program.fbs, table ExtraTensorInfo); several methods may
    have a tensor of that name. Raises UsageError where nothing is found.
    """
    if isinstance(target, str):
        return _by_name(program, target)
    if isinstance(target, int):
        found = [t for t in constant_tensors(program) if t.data_buffer_idx == target]
        if not found:
            raise UsageError(f"no tensor uses constant {target}")
        return found
    return [_by_place(program, *target)]


def _by_name(program: Program, name: str) -> list[Tensor]:
    tensors = list(stored_tensors(program))
    found = [tensor for tensor in tensors if tensor_name(tensor) == name]
    if not found:
        names = sorted({tensor_name(tensor) for tensor in tensors} - {""})
        known = f"the names are: {listed(names)}" if names else "none has a name: give an index"
        hint = meant(name, names)
        raise UsageError(f"no tensor with data in the file is called {name!r}{hint}; {known}")
    return found


def _by_place(program: Program, method: str, index: int) -> Tensor:
    plan = find_plan(program, method)
    if not 0 <= index < len(plan.values):
        raise UsageError(f"method {method!r} has no value {index}, only {len(plan.values)}")
    tensor = plan.values[index].val
    if not any(tensor is stored for stored in stored_tensors(program)):
        raise UsageError(f"value {index} of method {method!r} is no tensor with data in the file")
    assert isinstance(tensor, Tensor)
    return tensor


def tensor_name(tensor: Tensor) -> str:
    """The tensor's name in the model, or ``""``."""
    info = tensor.extra_tensor_info
    return (info.fully_qualified_name if info else None) or ""
