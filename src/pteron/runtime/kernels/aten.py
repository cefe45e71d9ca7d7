"""Operators by name on ATen's kernels; imported only where torch is needed.

Calling convention of ExecuTorch's programs: a call's arguments are the operator's in schema order,
``out`` included, followed by its returned values (the ``out`` again).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from importlib import import_module
from typing import Any

import torch

from pteron.errors import EngineError
from pteron.runtime.kernels.constants import refuse_constant
from pteron.runtime.kernels.dim_order import DIM_ORDER
from pteron.runtime.kernels.prim import PRIM
from pteron.runtime.kernels.tensors import to_array, to_tensor


def kernel(name: str) -> Callable[[list[Any], Sequence[int]], Any] | None:
    """The kernel of an operator (``aten::add.out``), or None where there is none."""
    if name in PRIM:
        return partial(_call_plain, name, PRIM[name])
    if name in DIM_ORDER:
        return partial(_call_plain, name, DIM_ORDER[name])
    operator = _find(name)
    return None if operator is None else partial(_call, name, operator)


def _find(name: str) -> Any:
    """The overload in ``torch.ops``, e.g. ``torch.ops.aten.add.out``."""
    qualified, _, overload = name.partition(".")
    namespace, _, op = qualified.partition("::")
    _register(namespace)
    packet = getattr(getattr(torch.ops, namespace), op, None)
    return getattr(packet, overload or "default", None)


def _register(namespace: str) -> None:
    """Load the module that defines a namespace's operators, where torch brings one."""
    if namespace == "quantized_decomposed":
        import_module("torch.ao.quantization.fx._decomposed")


def _call(name: str, operator: Any, arguments: list[Any], dynamic: Sequence[int]) -> Any:
    """Convert, run, convert back; a dynamic out tensor is resized within its planned memory."""
    schema = operator._schema.arguments
    for argument, value in zip(schema, arguments, strict=False):
        if argument.alias_info is not None and argument.alias_info.is_write:
            refuse_constant(value, name)
    values = [to_tensor(value) for value in arguments[: len(schema)]]
    for position in dynamic:
        if position < len(schema) and schema[position].is_out:
            values[position].resize_(0)
    positional = [v for v, a in zip(values, schema, strict=True) if not a.kwarg_only]
    named = {a.name: v for v, a in zip(values, schema, strict=True) if a.kwarg_only}
    try:
        with torch.no_grad():
            result = operator(*positional, **named)
    except (RuntimeError, TypeError, IndexError, ValueError) as error:
        raise EngineError(f"{name}: {_first_line(error)}", op=name) from error
    return to_array(result)


def _call_plain(
    name: str, function: Callable[..., Any], arguments: list[Any], _dynamic: Sequence[int]
) -> Any:
    try:
        return to_array(function(*(to_tensor(value) for value in arguments)))
    except (RuntimeError, TypeError, ArithmeticError) as error:
        raise EngineError(f"{name}: {_first_line(error)}", op=name) from error


def _first_line(error: Exception) -> str:
    return (str(error).splitlines() or [type(error).__name__])[0]
