"""Inputs and outputs of a program's method, with the best names the file offers.

The program format has no names for inputs; lowering writes one in ``ExtraTensorInfo``
(``fully_qualified_name``, program.fbs). Where it is absent they are numbered, as in
:class:`pteron.files.Method`.
"""

from __future__ import annotations

from collections.abc import Sequence

from pteron.dtypes import to_numpy
from pteron.errors import FormatError
from pteron.runtime.signature import UNBOUNDED, Parameter
from pteron.schema import program as schema

_KINDS: dict[type, str] = {
    schema.Int: "int",
    schema.Double: "float",
    schema.Bool: "bool",
    schema.String: "str",
    schema.Null: "none",
}


def inputs_of(plan: schema.ExecutionPlan) -> list[Parameter]:
    """What a method takes, in the plan's order."""
    return _parameters(plan, plan.inputs, "input")


def outputs_of(plan: schema.ExecutionPlan) -> list[Parameter]:
    """What a method gives, in the plan's order."""
    return _parameters(plan, plan.outputs, "output")


def _parameters(plan: schema.ExecutionPlan, indices: Sequence[int], kind: str) -> list[Parameter]:
    parameters: list[Parameter] = []
    taken: set[str] = set()
    for position, index in enumerate(indices):
        value = plan.values[index].val
        name = _declared_name(value) or f"{kind}_{position}"
        name = name if name not in taken else f"{kind}_{position}"
        taken.add(name)
        parameters.append(_parameter(name, value, f"method '{plan.name}': {kind} {position}"))
    return parameters


def _declared_name(value: object) -> str | None:
    extra = value.extra_tensor_info if isinstance(value, schema.Tensor) else None
    return extra.fully_qualified_name if extra is not None else None


def _parameter(name: str, value: object, where: str) -> Parameter:
    if isinstance(value, schema.Tensor):
        shape, lowest = _bounds(value)
        return Parameter(name, to_numpy(value.scalar_type), shape, lowest)
    if type(value) not in _KINDS:
        raise FormatError(f"is a {type(value).__name__}, which no caller can pass", where=where)
    return Parameter(name, None, kind=_KINDS[type(value)])


def _bounds(tensor: schema.Tensor) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Largest and smallest size per axis: the format gives upper bounds only (program.fbs)."""
    sizes = tuple(tensor.sizes)
    if tensor.shape_dynamism == schema.TensorShapeDynamism.STATIC:
        return sizes, sizes
    bounded = tensor.shape_dynamism == schema.TensorShapeDynamism.DYNAMIC_BOUND
    return (sizes if bounded else (UNBOUNDED,) * len(sizes)), (0,) * len(sizes)
