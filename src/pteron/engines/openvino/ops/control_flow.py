"""Branches and loops (coremltools ``ops/defs/iOS15/control_flow.py``).

A block becomes a model of its own; what it uses from around it becomes parameters of that model.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from pteron.engines.openvino._import import opset, ov
from pteron.engines.openvino.checks import Demand
from pteron.engines.openvino.declare import Bools, Context, Raws
from pteron.engines.openvino.graph import boolean, ints
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.scope import Scope, tensor_type
from pteron.engines.openvino.types import AnyType, ListType, TensorType
from pteron.engines.openvino.values import Named, Output, State, Value


@mil_op(tested="PyTorch")
def cond(context: Context, pred: Bools) -> list[Value]:
    blocks = _blocks(context, 2)
    states = written_states(context, blocks)
    branches = []
    for block in blocks:
        with context.nested() as scope:
            values = [_tensor(v) for v in context.translate(block)]
            values += [scope.read_state(state) for state in states]
            branches.append((scope, values))
    outputs = _either(_scalar(pred), branches)
    types = context.output_types()
    ends = len(types) + len(states)
    _keep(context, states, outputs[len(types) : ends])
    _demand(context, [d for scope, _ in branches for d in scope.demands], outputs[ends:])
    return _values(types, outputs[: len(types)])


def _either(pred: Output, branches: Sequence[tuple[Scope, list[Output]]]) -> list[Output]:
    """Values of the branch that is taken, then what the demands of all branches come to."""
    results = []
    for scope, values in branches:
        answers = [
            answer if other is scope else boolean(True)
            for other, _ in branches
            for _, answer in other.demands
        ]
        results.append([opset.result(value) for value in [*values, *answers]])
    models = [
        ov.Model(ends, [p for p, _ in scope.captured])
        for (scope, _), ends in zip(branches, results, strict=True)
    ]
    op = ov.op.if_op(pred)
    op.set_then_body(models[0])
    op.set_else_body(models[1])
    for side, (scope, _) in enumerate(branches):
        for parameter, outer in scope.captured:
            op.set_input(outer, *((parameter, None) if side == 0 else (None, parameter)))
    return [op.set_output(yes, no) for yes, no in zip(*results, strict=True)]


@mil_op(tested="PyTorch")
def while_loop(context: Context, loop_vars: Raws) -> list[Value]:
    blocks = _blocks(context, 2)
    states = written_states(context, blocks)
    types = [value.type for value in loop_vars]
    initial = [_tensor(value) for value in loop_vars]
    goes_on = _test(context, blocks[0], _values(types, initial))
    carried = [*initial, *(context.scope.read_state(state) for state in states)]
    shapes = [_loop_shape(type, value) for type, value in zip(types, initial, strict=True)]
    shapes += [tensor_type(state).partial_shape for state in states]
    with context.nested() as scope:
        parameters = [
            opset.parameter(shape, value.get_element_type())
            for shape, value in zip(shapes, carried, strict=True)
        ]
        inside = [parameter.output(0) for parameter in parameters]
        scope.states.update(zip(states, inside[len(types) :], strict=True))
        _define(context, blocks[1], _values(types, inside[: len(types)]))
        after = _values(types, [_tensor(value) for value in context.translate(blocks[1])])
        again = opset.result(_test(context, blocks[0], after))
        ends = [*(value.tensor() for value in after), *(scope.read_state(s) for s in states)]
        for _, answer in scope.demands:  # one that was not met once stays so
            carried.append(boolean(True).output(0))
            parameters.append(opset.parameter([], ov.Type.boolean))
            ends.append(opset.logical_and(parameters[-1], answer).output(0))
        results = [opset.result(end) for end in ends]
        captured = scope.captured
    loop = ov.op.loop(opset.constant(np.int64(-1)), _node(goes_on))
    loop.set_function(ov.Model([*results, again], parameters + [p for p, _ in captured]))
    loop.set_special_body_ports([-1, len(results)])
    for parameter, value, result in zip(parameters, carried, results, strict=True):
        loop.set_merged_input(parameter, value, result.output(0))
    for parameter, outer in captured:
        loop.set_invariant_input(parameter, outer)
    outputs = [loop.get_iter_value(result.output(0), -1) for result in results]
    last = len(types) + len(states)
    _keep(context, states, outputs[len(types) : last])
    _demand(context, scope.demands, outputs[last:])
    return _values(types, outputs[: len(types)])


def written_states(context: Context, blocks: Sequence[Any]) -> list[State]:
    """States that operations in these blocks write, however deep, each once."""
    found: dict[State, None] = {}
    for operation in (op for block in blocks for op in block.operations):
        for name in _WRITES.get(operation.type, ()):
            for binding in operation.inputs[name].arguments:
                state = context.scope.find(binding.name)
                if isinstance(state, State):
                    found[state] = None
        found |= dict.fromkeys(written_states(context, operation.blocks))
    return list(found)


_WRITES = {"write_state": ("input",), "coreml_update_state": ("state",)}


def _keep(context: Context, states: Sequence[State], values: Sequence[Output]) -> None:
    for state, value in zip(states, values, strict=True):
        context.scope.write_state(state, value)


def _demand(context: Context, demands: Sequence[Demand], answers: Sequence[Output]) -> None:
    """Hand demands of blocks on to the graph around them, where ``answers`` are theirs."""
    for (check, _), answer in zip(demands, answers, strict=True):
        context.scope.demand(check, answer)


def _blocks(context: Context, count: int) -> Sequence[Any]:
    blocks: Sequence[Any] = context.operation.blocks
    if len(blocks) != count:
        raise OpProblem(f"has {len(blocks)} blocks, needs {count}")
    return blocks


def _test(context: Context, block: Any, values: list[Value]) -> Output:
    """The loop's condition, as part of the graph it is asked in."""
    with context.nested(inline=True):
        _define(context, block, values)
        (goes_on,) = context.translate(block)
        return _scalar(_tensor(goes_on))


def _define(context: Context, block: Any, values: list[Value]) -> None:
    if len(block.inputs) != len(values):
        raise OpProblem(f"a block takes {len(block.inputs)} values but gets {len(values)}")
    for declared, value in zip(block.inputs, values, strict=True):
        context.scope.define(declared.name, Value(value.type, output=value.output))


def _loop_shape(type: AnyType, value: Output) -> Any:
    """What shape a loop variable may have in any round: the declared one."""
    if isinstance(type, ListType):
        return ov.PartialShape([-1] * len(value.get_partial_shape()))
    assert isinstance(type, TensorType)
    return type.partial_shape


def _values(types: Sequence[AnyType], outputs: Sequence[Output]) -> list[Value]:
    return [Value(type, output=output) for type, output in zip(types, outputs, strict=True)]


def _tensor(value: Named) -> Output:
    if not isinstance(value, Value):
        raise OpProblem(f"a value of type {value.type} cannot go through a block")
    return value.tensor()


def _scalar(value: Output) -> Output:
    return opset.reshape(value, ints([]), False).output(0)


def _node(value: Output) -> Any:
    return value.get_node()
