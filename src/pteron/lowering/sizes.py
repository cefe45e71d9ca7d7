"""Numbers known only at run time (sizes of dynamic tensors) stay where they are used.

A delegate takes and gives tensors only. So each region, and the program around them, computes the
sizes it needs itself, from tensors that it has.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import Node


def is_number(node: Node) -> bool:
    """Whether an operation's result is a size, or arithmetic on sizes."""
    import torch

    symbolic = (torch.SymInt, torch.SymFloat, torch.SymBool)
    return node.op == "call_function" and isinstance(node.meta.get("val"), symbolic)


def localise(program: ExportedProgram, regions: Sequence[set[Node]]) -> None:
    """Give each region its own copy of the sizes it uses; the originals are the program's."""
    from torch.fx.node import map_arg

    graph = program.graph
    home = {node: index for index, region in enumerate(regions) for node in region}
    numbers = [node for node in graph.nodes if is_number(node)]
    copies: dict[tuple[int, Node], Node] = {}

    def local(node: Node, region: int) -> Node:
        if not is_number(node):
            return node
        if (region, node) not in copies:
            with graph.inserting_after(node):
                copy = graph.node_copy(node, lambda source: local(source, region))
            copies[region, node] = copy
            regions[region].add(copy)
        return copies[region, node]

    for node, region in home.items():
        if not is_number(node):
            node.args = map_arg(node.args, lambda source, r=region: local(source, r))
            node.kwargs = map_arg(node.kwargs, lambda source, r=region: local(source, r))
    for node in reversed(numbers):
        if node in home:
            regions[home[node]].discard(node)
        if not node.users:
            graph.erase_node(node)
    program.graph_module.recompile()
