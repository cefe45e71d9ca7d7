"""From an operation's arguments to the parameters of the function that builds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pteron.engines.openvino.declare import ContextInput, TensorInput
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.registry import OpSpec, Parameter
from pteron.engines.openvino.values import Named
from pteron.payloads.coreml.proto import mil_pb2 as mil

Resolve = Callable[[mil.Argument.Binding], Named]


def bind(spec: OpSpec, op: mil.Operation, resolve: Resolve, context: Any) -> dict[str, Any]:
    """Arguments for ``spec.build``; wrong, missing or unknown inputs are an OpProblem."""
    given = {name: [resolve(b) for b in argument.arguments] for name, argument in op.inputs.items()}
    given |= _attributes(spec, op, resolve)
    _check_known(spec, given)
    arguments = {}
    for parameter in spec.parameters:
        if isinstance(parameter.declared, ContextInput):
            arguments[parameter.name] = context
        elif parameter.name in given:
            arguments[parameter.name] = _take(parameter, given[parameter.name])
        elif parameter.required:
            raise OpProblem(f"input '{parameter.name}' is missing")
    _check_domains(spec, given)
    return arguments


def _attributes(spec: OpSpec, op: mil.Operation, resolve: Resolve) -> dict[str, list[Named]]:
    """Inputs written as attributes, which is how iOS 16's ``constexpr`` ops have theirs."""
    names = [name for name in op.attributes if spec.parameter(name) and name not in op.inputs]
    return {name: [resolve(mil.Argument.Binding(value=op.attributes[name]))] for name in names}


def _check_known(spec: OpSpec, given: Mapping[str, list[Named]]) -> None:
    for name in given:
        if spec.parameter(name) is None:
            raise OpProblem(f"it has no input '{name}'")


def _take(parameter: Parameter, values: list[Named]) -> Any:
    try:
        if parameter.declared.variadic:
            return [parameter.declared.take(value) for value in values]
        if len(values) != 1:
            raise OpProblem(f"takes one value, not {len(values)}")
        return parameter.declared.take(values[0])
    except OpProblem as problem:
        raise OpProblem(f"input '{parameter.name}' {problem}") from problem


def _check_domains(spec: OpSpec, given: Mapping[str, list[Named]]) -> None:
    seen: dict[str, tuple[str, str]] = {}
    for name, values in given.items():
        parameter = spec.parameter(name)
        declared = parameter.declared if parameter else None
        if not isinstance(declared, TensorInput) or not declared.domain:
            continue
        for value in values:
            dtype = declared.dtype(value)
            first_name, first = seen.setdefault(declared.domain, (name, dtype))
            if dtype != first:
                raise OpProblem(f"'{first_name}' is {first} but '{name}' is {dtype}")
