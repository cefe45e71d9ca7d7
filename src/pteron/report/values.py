"""The values of a method as a person reads them."""

from __future__ import annotations

from pteron.dtypes import scalar_type_name
from pteron.files.mutable_buffers import state_values
from pteron.files.tensors import is_external
from pteron.schema.program import (
    ExecutionPlan,
    IntList,
    KernelTypes,
    OptionalTensorList,
    Tensor,
    TensorList,
    TensorShapeDynamism,
)

_LONGEST = 200
"""Characters of a number, text or list that are shown."""


def values(plan: ExecutionPlan) -> list[dict[str, str]]:
    """For each value its type or content ``t``, and where it has them name ``n``, role ``r``.

    Roles: ``input``, ``output``, ``state``, ``constant``, ``external`` (data in another file).
    """
    roles = _roles(plan)
    names = {index: name for index, name in state_values(plan) if name}
    return [
        _plain(_text(value.val), _name(value.val) or names.get(index, ""), roles.get(index, ""))
        for index, value in enumerate(plan.values)
    ]


def _plain(text: str, name: str, role: str) -> dict[str, str]:
    return {"t": text} | ({"n": name} if name else {}) | ({"r": role} if role else {})


def _roles(plan: ExecutionPlan) -> dict[int, str]:
    roles = dict.fromkeys(plan.outputs, "output")
    for index, value in enumerate(plan.values):
        tensor = value.val
        if isinstance(tensor, Tensor) and is_external(tensor):
            roles[index] = "external"
        elif isinstance(tensor, Tensor) and tensor.data_buffer_idx and not tensor.allocation_info:
            roles[index] = "constant"
    roles |= dict.fromkeys((index for index, _ in state_values(plan)), "state")
    return roles | dict.fromkeys(plan.inputs, "input")


def _name(value: KernelTypes | None) -> str:
    info = value.extra_tensor_info if isinstance(value, Tensor) else None
    return (info.fully_qualified_name or "") if info else ""


def _text(value: KernelTypes | None) -> str:
    if isinstance(value, Tensor):
        return tensor_text(value)
    if isinstance(value, (TensorList, OptionalTensorList, IntList)):
        return _cut(f"[{', '.join('none' if i < 0 else f'%{i}' for i in value.items[:_LONGEST])}]")
    content = [getattr(value, name) for name in getattr(value, "__dataclass_fields__", ())]
    return _cut(str(content[0])) if content else "None"


def tensor_text(tensor: Tensor) -> str:
    """``float32[1, 4]``; sizes that may change have ``≤`` or ``?``."""
    mark = {
        TensorShapeDynamism.DYNAMIC_BOUND: "≤",
        TensorShapeDynamism.DYNAMIC_UNBOUND: "?",
    }.get(tensor.shape_dynamism, "")
    sizes = ", ".join(f"{mark}{size}" for size in tensor.sizes)
    return f"{scalar_type_name(tensor.scalar_type)}[{_cut(sizes)}]"


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
