"""An exported graph -> a functional graph of operators that something downstream takes."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pteron.lowering import branch_writes, equal, quantised
from pteron.lowering.region import mutations
from pteron.lowering.rewrites import rewrites

if TYPE_CHECKING:
    from torch._ops import OpOverload
    from torch.export import ExportedProgram
    from torch.fx import Graph, Node

Keep = Callable[["OpOverload"], bool]


def decompositions() -> Any:
    """Operator -> its decomposition, of torch's core table and of ours."""
    import torch
    from torch._decomp import get_decompositions

    table = torch.export.default_decompositions()
    training_norm = torch.ops.aten._native_batch_norm_legit_functional.default
    table.update({**get_decompositions([training_norm]), **rewrites()})
    table.update(quantised.decompositions())
    return table


def functional(program: ExportedProgram, keep: Keep) -> ExportedProgram:
    """Writes become values and mutation outputs; operators become core ATen ones.

    ``keep`` says which operators are taken as they are, and so are not decomposed.
    """
    import torch

    table = decompositions()
    for op in {op for op in table if keep(op)} - _silent_writers(program.graph):
        table.pop(op)
    program = copy.copy(program)
    program._graph_module = copy.deepcopy(program.graph_module)
    branch_writes.to_results(program.graph)
    equal.part(program.graph)
    with torch.no_grad():
        program = program.run_decompositions(table)
    equal.join(program)
    _drop_assertions(program)
    _copy_what_is_passed_on(program)
    return program


def _silent_writers(graph: Graph) -> set[Any]:
    """Operators that update a buffer, which their schema does not tell, so that a write is lost
    unless they are decomposed: an instance norm that keeps running statistics."""
    import torch

    norm = torch.ops.aten.instance_norm.default
    calls = graph.find_nodes(op="call_function", target=norm)
    kept, updates = 3, 5  # positions of running_mean and use_input_stats
    return {norm for call in calls if call.args[kept] is not None and call.args[updates]}


def _drop_assertions(program: ExportedProgram) -> None:
    """Remove checks of what tracing already knows (``_assert_tensor_metadata`` and its like)."""
    for node in reversed(list(program.graph.nodes)):
        name = getattr(node.target, "__name__", "")
        if node.op == "call_function" and name.startswith(("_assert", "sym_constrain_range")):
            program.graph.erase_node(node)
    program.graph.eliminate_dead_code()
    program.graph_module.recompile()


def _copy_what_is_passed_on(program: ExportedProgram) -> None:
    """Make every new value of a buffer, and every output, the result of an operation.

    A buffer may be given an input or another buffer's old value, and an old value may be an
    output. A copy of it stands for that from here on, so that buffers can be written in any order.
    """
    import torch
    from torch.export.graph_signature import TensorArgument

    written = mutations(program)
    buffers = {
        spec.arg.name for spec in program.graph_signature.input_specs if spec.target in written
    }
    output = program.graph.output_node()
    values = list(output.args[0])
    specs = program.graph_signature.output_specs
    copies: dict[Node, Node] = {}
    for position, (value, spec) in enumerate(zip(values, specs, strict=True)):
        if not isinstance(value, torch.fx.Node) or value.op != "placeholder":
            continue
        if spec.target is None and value.name not in buffers:
            continue
        if value not in copies:
            with program.graph.inserting_before(output):
                copies[value] = program.graph.call_function(torch.ops.aten.clone.default, (value,))
            copies[value].meta = dict(value.meta)
        values[position] = copies[value]
        spec.arg = TensorArgument(copies[value].name)
    output.args = (tuple(values),)
    program.graph_module.recompile()
