"""What names and states stand for in a block while it is translated."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pteron.engines.openvino._import import opset, ov
from pteron.engines.openvino.checks import Check, Demand
from pteron.engines.openvino.graph import ints
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.types import StateType, TensorType
from pteron.engines.openvino.values import Named, Output, State, Value


@dataclass
class Scope:
    """Names defined so far in a block; a nested block sees those of the block around it."""

    parent: Scope | None = None
    names: dict[str, Named] = field(default_factory=dict)
    captured: list[tuple[Any, Output]] = field(default_factory=list)  # (parameter, outer output)
    states: dict[State, Output] = field(default_factory=dict)
    """What states hold by now, in this block's graph: those it has read or written."""
    demands: list[Demand] = field(default_factory=list)
    """What operations in this block's graph demand of values, in order."""
    inline: bool = False
    """Part of its parent's graph: what it uses needs no parameters."""

    def define(self, name: str, value: Named) -> None:
        if name in self.names:
            raise OpProblem(f"'{name}' is defined twice")
        self.names[name] = value

    def find(self, name: str) -> Named:
        """The value of a name; values computed outside become parameters of the block's model."""
        if name in self.names:
            return self.names[name]
        if self.parent is None:
            raise OpProblem(f"'{name}' is used before it is defined, or is defined nowhere")
        outer = self.parent.find(name)
        if self.inline or not isinstance(outer, Value):
            return outer
        if outer.quantised is not None:  # a constant node of its own: graphs share no nodes
            self.names[name] = Value(outer.type, quantised=outer.quantised)
        elif outer.array is not None:
            self.names[name] = Value(outer.type, array=outer.array)
        else:
            self.names[name] = Value(outer.type, output=self._capture(outer.tensor()))
        return self.names[name]

    def read_state(self, state: State) -> Output:
        """What a state holds by now; read from its variable when it is first asked for."""
        if self.inline and self.parent is not None:
            return self.parent.read_state(state)
        if state not in self.states:
            outer = self.parent and self.parent.read_state(state)
            self.states[state] = _first(state) if outer is None else self._capture(outer)
        return self.states[state]

    def write_state(self, state: State, value: Output) -> None:
        """Let a state hold a value from here on; blocks around it are told by their owner."""
        type = tensor_type(state)
        if not type.partial_shape.compatible(value.get_partial_shape()):
            came = value.get_partial_shape()
            raise OpProblem(f"state '{state.name}' is {type} but gets {came}")
        if self.inline and self.parent is not None:
            self.parent.write_state(state, value)
        else:
            self.read_state(state)
            self.states[state] = value

    def demand(self, check: Check, answer: Output) -> None:
        """Let a call fail unless a scalar boolean of this block's graph is true."""
        if self.inline and self.parent is not None:
            self.parent.demand(check, answer)
        else:
            self.demands.append((check, answer))

    def _capture(self, outer: Output) -> Output:
        parameter = opset.parameter(outer.get_partial_shape(), outer.get_element_type())
        self.captured.append((parameter, outer))
        return parameter.output(0)


def tensor_type(state: State) -> TensorType:
    """The type of the tensor that a state holds."""
    assert isinstance(state.type, StateType)
    return state.type.tensor


def _first(state: State) -> Output:
    tensor = tensor_type(state)
    static = [size for size in tensor.shape if size is not None]
    if len(static) != len(tensor.shape):
        raise OpProblem(f"state '{state.name}' of flexible shape {tensor} is not supported")
    zeros = opset.broadcast(opset.constant(0, tensor.element_type), ints(static))
    state.first = ov.op.read_value(zeros, state.variable).output(0)
    return state.first
