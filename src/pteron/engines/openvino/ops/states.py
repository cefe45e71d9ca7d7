"""States (coremltools ``ops/defs/iOS18/states.py``; ``coreml_update_state`` in memory and
``write_state`` in files say the same).

A state is one OpenVINO variable: read at most once, at the state's first use, and assigned once,
at the function's end (also when it was only read: OpenVINO leaves a variable that is never
assigned uninitialised). In between the scopes follow the value the state holds.
"""

from __future__ import annotations

from pteron.engines.openvino.declare import Context, Raw, Tensor
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.values import Output, State


@mil_op(since=18)
def read_state(context: Context, input: Raw) -> Output:
    return context.scope.read_state(_state(input))


@mil_op(since=18)
def write_state(context: Context, input: Raw, data: Tensor) -> None:
    context.scope.write_state(_state(input), data)


@mil_op(since=18)
def coreml_update_state(context: Context, state: Raw, value: Tensor) -> Output:
    context.scope.write_state(_state(state), value)
    return value


def _state(value: object) -> State:
    if not isinstance(value, State):
        raise OpProblem("needs a state")
    return value
