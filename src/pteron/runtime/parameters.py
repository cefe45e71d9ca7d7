"""Inputs and outputs of a program's method, with the best names the file offers.

The program format has no names for inputs; lowering writes one in ``ExtraTensorInfo``
(``fully_qualified_name``, program.fbs). Where it is absent, a value that goes straight into (or
comes straight out of) a delegate takes the payload's name for it; the rest are numbered.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pteron.dtypes import to_numpy
from pteron.errors import FormatError
from pteron.runtime.delegates import PreparedDelegate
from pteron.runtime.signature import UNBOUNDED, Parameter
from pteron.schema import program as schema

_KINDS: dict[type, str] = {
    schema.Int: "int",
    schema.Double: "float",
    schema.Bool: "bool",
    schema.String: "str",
    schema.Null: "none",
}


def inputs_of(plan: schema.ExecutionPlan, delegates: Sequence[PreparedDelegate]) -> list[Parameter]:
    """What a method takes, in the plan's order."""
    return _parameters(plan, plan.inputs, "input", dict(_payload_names(plan, delegates)))


def outputs_of(
    plan: schema.ExecutionPlan, delegates: Sequence[PreparedDelegate]
) -> list[Parameter]:
    """What a method gives, in the plan's order."""
    return _parameters(plan, plan.outputs, "output", dict(_payload_names(plan, delegates)))


def _parameters(
    plan: schema.ExecutionPlan, indices: Sequence[int], kind: str, payload_names: dict[int, str]
) -> list[Parameter]:
    parameters: list[Parameter] = []
    taken: set[str] = set()
    for position, index in enumerate(indices):
        value = plan.values[index].val
        name = _declared_name(value) or payload_names.get(index) or f"{kind}_{position}"
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


def _payload_names(
    plan: schema.ExecutionPlan, delegates: Sequence[PreparedDelegate]
) -> Iterator[tuple[int, str]]:
    """(value index, payload's name) for every argument of every delegate call."""
    for chain in plan.chains:
        for instruction in chain.instructions:
            call = instruction.instr_args
            if isinstance(call, schema.DelegateCall):
                function = delegates[call.delegate_index].function
                names = [info.name for info in (*function.inputs, *function.outputs)]
                yield from zip(call.args, names, strict=False)
