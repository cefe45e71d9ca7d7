"""Buffers that end a call with the same value, such as ``a.add_(x); b.copy_(a)``.

torch (2.13) takes the second of two equal mutation outputs for an output of the user when it
decomposes a program, and then refuses its own result. While it does so, everything that is copied
into a tensor is a value of its own.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from pteron.lowering.region import mutations

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import Graph

_MARK = "pteron.copied"


def part(graph: Graph) -> None:
    """Let every ``copy_`` of an exported graph copy a clone."""
    import torch

    aten = torch.ops.aten
    for node in graph.find_nodes(op="call_function", target=aten.copy_.default):
        source = node.args[1]
        with graph.inserting_before(node):
            clone = graph.call_function(aten.clone.default, (source,))
        clone.meta = {**node.meta, "val": source.meta["val"], "custom": {_MARK: True}}
        node.update_arg(1, clone)


def join(program: ExportedProgram) -> None:
    """Remove the clones of :func:`part` again, but for the second of two equal last values."""
    from torch.export.graph_signature import TensorArgument

    graph = program.graph
    clones = [n for n in graph.nodes if _MARK in n.meta.get("custom", {}) and _is_clone(n)]
    for clone in clones:
        (source,) = clone.args
        finals = set(mutations(program).values())
        if clone.name in finals and (source.name in finals or source.op == "placeholder"):
            continue
        for spec in program.graph_signature.output_specs:
            if spec.arg.name == clone.name:
                spec.arg = TensorArgument(source.name)
        clone.replace_all_uses_with(source)
        graph.erase_node(clone)
    program.graph_module.recompile()


def _is_clone(node: object) -> bool:
    import torch

    return getattr(node, "target", None) is torch.ops.aten.clone.default
