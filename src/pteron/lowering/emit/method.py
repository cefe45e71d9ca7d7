"""One method's graph -> its ExecutionPlan."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from pteron.lowering import memory
from pteron.lowering.emit.builder import Builder, ProgramData
from pteron.lowering.emit.calls import Calls
from pteron.lowering.emit.tensors import describe, nbytes
from pteron.lowering.outer import Outer
from pteron.schema.program import Chain, ContainerMetadata, ExecutionPlan

if TYPE_CHECKING:
    from torch.fx import Node


def emit(outer: Outer, data: ProgramData) -> ExecutionPlan:
    """Write a method as tables of program.fbs.

    Raises :class:`LoweringError` naming an operation that a program cannot express.
    """
    builder = Builder(data)
    calls = Calls(builder)
    for node in outer.graph.nodes:
        if node.op == "placeholder":
            calls.index[node] = _placeholder(outer, builder, node)
    calls.graph(outer.graph)
    outer.values = calls.index
    outputs = [_output(calls, value) for value in outer.outputs]
    builder.keep(outputs)
    scratch = builder.allocate()
    return ExecutionPlan(
        name=outer.name,
        container_meta_type=ContainerMetadata(
            encoded_inp_str=_tree(outer.in_spec), encoded_out_str=_tree(outer.out_spec)
        ),
        values=builder.values.table,
        inputs=[calls.single(node) for node in outer.inputs],
        outputs=outputs,
        chains=[Chain([], [], builder.instructions, builder.stacktrace)],
        operators=builder.operators,
        delegates=builder.delegates,
        non_const_buffer_sizes=[0, scratch] + ([data.state.size] if data.state.offsets else []),
    )


def _placeholder(outer: Outer, builder: Builder, node: Node) -> int:
    if node in outer.constants:
        return builder.constant(outer.tensors[outer.constants[node]])
    if node in outer.state:
        name = outer.state[node]
        return builder.state(name, outer.tensors[name])
    value = node.meta["val"]
    if hasattr(value, "shape"):
        return builder.scratch(value, name=str(node.target))
    return builder.values.constant(value, "")


def _output(calls: Calls, value: Any) -> int:
    import torch

    if isinstance(value, torch.fx.Node):
        return calls.single(value)
    return calls.builder.values.constant(value, "")


def _tree(spec: Any) -> str:
    from torch.utils import _pytree

    return str(_pytree.treespec_dumps(spec))


def state_arena(outers: Iterable[Outer]) -> memory.Arena[str]:
    """One place for each program-owned buffer, the same in every method."""
    sizes: dict[str, int] = {}
    for outer in outers:
        for node, name in outer.state.items():
            sizes[name] = nbytes(describe(node.meta["val"]))
    return memory.side_by_side(sizes)
