"""States (coremltools ``ops/defs/iOS18/states.py``; ``coreml_update_state`` in memory and
``write_state`` in files say the same).

A state is one OpenVINO variable: read at most once, at the state's first use, and assigned once,
at the function's end (also when it was only read: OpenVINO leaves a variable that is never
assigned uninitialised). In between the translator follows the value the state holds.
"""

from __future__ import annotations

from pteron.engines.openvino._import import opset, ov
from pteron.engines.openvino.declare import Context, Raw, Tensor
from pteron.engines.openvino.graph import ints
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.types import StateType
from pteron.engines.openvino.values import Output, State


@mil_op(since=18)
def read_state(context: Context, input: Raw) -> Output:
    return context.scope.bring(_current(_state(input)))


@mil_op(since=18)
def write_state(context: Context, input: Raw, data: Tensor) -> None:
    _write(context, _state(input), data)


@mil_op(since=18)
def coreml_update_state(context: Context, state: Raw, value: Tensor) -> Output:
    _write(context, _state(state), value)
    return value


def _write(context: Context, state: State, value: Output) -> None:
    if context.scope.parent is not None:
        raise OpProblem(f"state '{state.name}' is written inside a nested block")
    assert isinstance(state.type, StateType)
    if not state.type.tensor.partial_shape.compatible(value.get_partial_shape()):
        raise OpProblem(
            f"state '{state.name}' is {state.type.tensor} but gets {value.get_partial_shape()}"
        )
    _current(state)
    state.current = value


def _current(state: State) -> Output:
    if state.current is None:
        assert isinstance(state.type, StateType)
        tensor = state.type.tensor
        static = [size for size in tensor.shape if size is not None]
        if len(static) != len(tensor.shape):
            raise OpProblem(f"state '{state.name}' of flexible shape {tensor} is not supported")
        zero = opset.constant(0, tensor.element_type)
        first = opset.broadcast(zero, ints(static))
        state.first = state.current = ov.op.read_value(first, state.variable).output(0)
    return state.current


def _state(value: object) -> State:
    if not isinstance(value, State):
        raise OpProblem("needs a state")
    return value
