"""Functional operators -> the variants that write into memory they are given."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from pteron.lowering.emit.portable import PORTABLE

if TYPE_CHECKING:
    from torch._ops import OpOverload


@cache
def without_views(op: OpOverload) -> OpOverload:
    """The copying twin of an operator that returns a view (``view`` -> ``view_copy``)."""
    import torch

    if not _returns_a_view(op):
        return op
    namespace, _, name = op._overloadpacket._qualified_op_name.partition("::")
    packet = getattr(getattr(torch.ops, namespace), f"{name}_copy", None)
    overload = getattr(packet, op._overloadname, None) if packet is not None else None
    return op if overload is None else overload


def _returns_a_view(op: OpOverload) -> bool:
    aliases = [argument.alias_info for argument in op._schema.arguments]
    return any(info is not None and not info.is_write for info in aliases)


@cache
def out_variant(op: OpOverload) -> OpOverload | None:
    """The overload with the same inputs that writes its results into ``out`` arguments."""
    wanted = _inputs(op)
    candidates = [getattr(op._overloadpacket, name) for name in op._overloadpacket.overloads()]
    candidates = [candidate for candidate in candidates if out_names(candidate)]
    for lost in (set(), {"dtype", "layout", "device", "pin_memory"}):
        for candidate in candidates:
            given = _inputs(candidate)
            if given <= wanted and {name for name, _ in wanted - given} <= lost:
                return candidate
    return None


def out_names(op: OpOverload) -> list[str]:
    """Names of the arguments that receive the results; empty for a functional operator."""
    return [argument.name for argument in op._schema.arguments if argument.is_out]


def writes_a_list(op: OpOverload) -> bool:
    """Whether the results go to one argument that is a list of tensors."""
    return any(
        argument.is_out and argument.type.str().endswith("[]") for argument in op._schema.arguments
    )


def has_portable_kernel(op: OpOverload) -> bool:
    """Whether ExecuTorch's portable library can run this operator as it is."""
    if op.namespace != "aten":
        return False
    variant = out_variant(without_views(op))
    if variant is None:
        return False
    name = variant._overloadpacket._qualified_op_name.removeprefix("aten::")
    return f"{name}.{variant._overloadname}" in PORTABLE


def _inputs(op: OpOverload) -> set[tuple[str, str]]:
    arguments = op._schema.arguments
    return {(argument.name, argument.type.str()) for argument in arguments if not argument.is_out}


def bind(op: OpOverload, args: tuple[Any, ...], kwargs: dict[str, Any]) -> dict[str, Any]:
    """Every non-``out`` argument of a call by name, defaults filled in."""
    bound: dict[str, Any] = {}
    for index, argument in enumerate(op._schema.arguments):
        if argument.is_out:
            continue
        if argument.name == "memory_format":  # every tensor of an emitted program is row-major
            bound[argument.name] = None
        elif argument.name in kwargs:
            bound[argument.name] = kwargs[argument.name]
        elif not argument.kwarg_only and index < len(args):
            bound[argument.name] = args[index]
        else:
            bound[argument.name] = argument.default_value
    return bound
