"""A function of a MIL program, as an OpenVINO model with variables for its states."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np

from pteron.engines.openvino._import import opset, ov
from pteron.engines.openvino.binding import bind
from pteron.engines.openvino.checks import Check, Demand
from pteron.engines.openvino.constants import Weights, read_value
from pteron.engines.openvino.forgotten_conditions import ForgottenConditions
from pteron.engines.openvino.names import name_nodes
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.quantised import Quantised
from pteron.engines.openvino.registry import find
from pteron.engines.openvino.scope import Scope
from pteron.engines.openvino.types import AnyType, StateType, TensorType, check_output, read_type
from pteron.engines.openvino.values import Classes, Named, Output, State, Value
from pteron.errors import EngineError
from pteron.payloads.coreml.proto import mil_pb2 as mil

# What ops, NumPy and OpenVINO raise for a program that is wrong.
_PROBLEMS = (
    OpProblem,
    RuntimeError,
    ValueError,
    TypeError,
    LookupError,
    ArithmeticError,
    MemoryError,
)
Ports = dict[str, tuple[Any, TensorType]]  # name -> (OpenVINO parameter or result, type)


@dataclass(frozen=True)
class Translated:
    """A function's graph: its ports in the program's order, and the assignments to its states."""

    inputs: Ports
    outputs: Ports
    sinks: list[Any]
    unread: list[Any]
    """Results for states that are written but never read: OpenVINO wants each variable read."""
    labels: dict[str, list[Any]]
    demands: list[Demand]


class Translator:
    """Translates one function. Ops with blocks or states get it as their context."""

    def __init__(self, program: mil.Program, function: str, weights: Weights) -> None:
        self.function = function
        self.proto = program.functions[function]
        self.weights = weights
        self.states: list[State] = []
        self._labels: dict[str, list[Any]] = {}  # outputs of a classifier -> its classes
        self._forgotten = ForgottenConditions()
        self.scope = Scope()
        self.operation = mil.Operation()

    def translate_function(self, shapes: Mapping[str, Any]) -> Translated:
        """Translate it whole; ``shapes`` bounds flexible inputs, by name (ov.PartialShape)."""
        with self._blame("signature"):
            inputs = self._define_inputs(shapes)
            block = self._block()
        values = self.translate(block)
        with self._blame("outputs"):
            outputs = {n: self._result(n, v) for n, v in zip(block.outputs, values, strict=True)}
            sinks = [_assign(s, value) for s, value in self.scope.states.items()]
            firsts = [s.first for s in self.states if s.first is not None]
            unread = [opset.result(first) for first in firsts if not first.get_target_inputs()]
        return Translated(inputs, outputs, sinks, unread, self._labels, self.scope.demands)

    def translate(self, block: mil.Block) -> list[Named]:
        """Translate a block's operations in the current scope, and give its outputs."""
        for operation in block.operations:
            with self._blame(_described(operation)):
                self._translate_operation(operation)
        with self._blame("block outputs"):
            return [self.scope.find(name) for name in block.outputs]

    @contextmanager
    def nested(self, inline: bool = False) -> Iterator[Scope]:
        """A scope for a block inside the current one; ``inline``: in the same graph."""
        outer, self.scope = self.scope, Scope(parent=self.scope, inline=inline)
        try:
            yield self.scope
        finally:
            self.scope = outer

    def demand(self, answer: Output, problem: str) -> None:
        """Let a call fail with ``problem`` unless a scalar ``answer`` is true.

        The answer is the current operation's, in the graph of the current block.
        """
        name_nodes(answer, _first_output(self.operation))
        self.scope.demand(Check(_described(self.operation), problem), answer)

    def output_types(self) -> list[AnyType]:
        """Declared types of the outputs of the operation being translated."""
        return [read_type(output.type) for output in self.operation.outputs]

    @property
    def opset(self) -> str:
        return self.proto.opset

    def _block(self) -> mil.Block:
        if self.opset not in self.proto.block_specializations:
            raise OpProblem(f"there is no block for opset '{self.opset}'")
        return self.proto.block_specializations[self.opset]

    def _define_inputs(self, shapes: Mapping[str, Any]) -> Ports:
        ports: Ports = {}
        for proto in self.proto.inputs:
            type = read_type(proto.type)
            if isinstance(type, StateType):
                state = State(proto.name, type, _variable(proto.name, type.tensor))
                self.states.append(state)
                self.scope.define(proto.name, state)
            elif isinstance(type, TensorType):
                shape = shapes.get(proto.name, type.partial_shape)
                parameter = opset.parameter(shape, type.element_type)
                _name(parameter, proto.name)
                self.scope.define(proto.name, Value(type, output=parameter.output(0)))
                ports[proto.name] = (parameter, type)
            else:
                raise OpProblem(f"input '{proto.name}' of type {type} is not supported")
        return ports

    def _translate_operation(self, operation: mil.Operation) -> None:
        if operation.type == "const":
            if len(operation.outputs) != 1:
                raise OpProblem(f"declares {len(operation.outputs)} outputs but has 1")
            value = read_value(operation.attributes["val"], self.weights)
            self.scope.define(_first_output(operation), value)
            return
        spec = find(operation.type, self.opset)
        arguments = bind(spec, operation, self._resolve, self)
        outer, self.operation = self.operation, operation
        try:
            built = spec.build(**arguments)
            self._define_outputs(operation, built)
        finally:
            self.operation = outer

    def _resolve(self, binding: mil.Argument.Binding) -> Named:
        if binding.WhichOneof("binding") == "value":
            return read_value(binding.value, self.weights)
        return self.scope.find(binding.name)

    def _define_outputs(self, operation: mil.Operation, built: Any) -> None:
        values = [] if built is None else built if isinstance(built, (list, tuple)) else [built]
        if len(values) != len(operation.outputs):
            raise OpProblem(f"declares {len(operation.outputs)} outputs but has {len(values)}")
        for declared, value in zip(operation.outputs, values, strict=True):
            type = read_type(declared.type)
            type = self._forgotten.correct(type, operation, declared.name, value)
            defined = as_declared(type, value)
            if isinstance(defined, Value) and defined.output is not None:
                name_nodes(defined.output, declared.name)
            self.scope.define(declared.name, defined)

    def _result(self, name: str, value: Named) -> tuple[Any, TensorType]:
        if isinstance(value, Classes):
            self._labels[name] = value.labels
            return _named(value.probabilities, name), _class_type(value.type)
        if isinstance(value, State) or not isinstance(value.type, TensorType):
            raise OpProblem(f"output '{name}' of type {value.type} is not supported")
        return _named(value.tensor(), name), value.type

    @contextmanager
    def _blame(self, where: str) -> Iterator[None]:
        try:
            yield
        except EngineError:
            raise
        except _PROBLEMS as problem:
            reason = str(problem).strip() or type(problem).__name__
            message = f"function '{self.function}', {where}: {reason}"
            raise EngineError(message, function=self.function, op=where) from problem


def as_declared(type: AnyType, built: Any) -> Named:
    """What an op built, checked against the type the program declares for it."""
    if isinstance(built, (Value, Classes)):
        return built
    if isinstance(built, Quantised):
        _check_known(type, built.data.shape, built.scale.dtype)
        return Value(type, quantised=built)
    output = built.output(0) if hasattr(built, "output") else built
    if isinstance(output, np.ndarray):
        _check_known(type, output.shape, output.dtype)
        return Value(type, array=output)
    if not isinstance(type, TensorType):
        raise OpProblem(f"its output is a tensor but is declared as {type}")
    check_output(output)
    if output.get_element_type() != type.element_type:
        output = opset.convert(output, type.element_type).output(0)
    if not type.partial_shape.compatible(output.get_partial_shape()):
        raise OpProblem(f"its output is {output.get_partial_shape()} but is declared as {type}")
    return Value(type, output=output)


def _check_known(type: AnyType, shape: tuple[int, ...], dtype: np.dtype[Any]) -> None:
    if not isinstance(type, TensorType) or type.shape != shape or type.storage != dtype:
        raise OpProblem(f"its output is {dtype}{list(shape)} but is declared as {type}")


def _variable(name: str, type: TensorType) -> Any:
    info = ov.op.util.VariableInfo()
    info.data_shape, info.data_type = type.partial_shape, type.element_type
    info.variable_id = name
    return ov.op.util.Variable(info)


def _class_type(type: AnyType) -> TensorType:
    """How a classifier's output reaches the caller: a label, or a dictionary in an object array."""
    if not isinstance(type, TensorType):
        return TensorType("object", ())
    return TensorType("str" if type.dtype == "string" else type.dtype, ())


def _named(output: Output, name: str) -> Any:
    result = opset.result(output)
    _name(result, name)
    return result


def _assign(state: State, value: Output) -> Any:
    if not _varies(value):
        value = _over(state, value)
    node = value.get_node()
    if node.get_output_size() > 1:  # the bindings take a node: one that has this output alone
        node = opset.convert(value, value.get_element_type())
    return ov.op.assign(node, state.variable)


def _varies(value: Output) -> bool:
    """Whether a value depends on an input or a state."""
    waiting, seen = [value.get_node()], set()
    while waiting:
        node = waiting.pop()
        if node.get_type_name() in ("Parameter", "ReadValue"):
            return True
        if node.get_friendly_name() not in seen:
            seen.add(node.get_friendly_name())
            waiting += [source.get_node() for source in node.input_values()]
    return False


def _over(state: State, value: Output) -> Output:
    """A constant written over what the state holds, row by row.

    OpenVINO's CPU plugin assigns a constant when it compiles, and at no call.
    """
    rows = opset.constant(np.arange(value.get_shape()[0], dtype=np.int64))
    return opset.scatter_update(state.first, rows, value, opset.constant(np.int64(0))).output(0)


def _name(node: Any, name: str) -> None:
    node.friendly_name = name
    node.output(0).get_tensor().set_names({name})


def _described(operation: mil.Operation) -> str:
    return f"{operation.type} '{_first_output(operation)}'"


def _first_output(operation: mil.Operation) -> str:
    return operation.outputs[0].name if operation.outputs else _label(operation)


def _label(operation: mil.Operation) -> str:
    label: Sequence[str] = (
        operation.attributes["name"].immediateValue.tensor.strings.values
        if "name" in operation.attributes
        else ()
    )
    return label[0] if label else "?"
