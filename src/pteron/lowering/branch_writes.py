"""Writes to a buffer inside a branch or a loop become results of it, copied back behind it.

torch's functionalisation (2.13) refuses ``torch.cond`` and ``while_loop`` whose graphs write what
they are given.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

from pteron.errors import LoweringError
from pteron.lowering.accesses import is_written
from pteron.lowering.source import describe
from pteron.lowering.subgraphs import Nested, nested, results

if TYPE_CHECKING:
    from torch.fx import Graph, Node


def to_results(graph: Graph) -> None:
    """Rewrite an exported graph, from the innermost branch outwards."""
    for node in list(graph.nodes):
        parts = nested(node) if node.op == "call_function" else []
        for part in parts:
            to_results(part.graph)
        written = [
            position
            for position in range(len(parts[0].operands) if parts else 0)
            if any(is_written(part.placeholders[position]) for part in parts)
        ]
        if written:
            _return(node, parts, written)
            for part in parts:
                part.graph.owning_module.recompile()


def _return(node: Node, parts: list[Nested], written: list[int]) -> None:
    """Let ``node`` give the new values of the operands that it writes."""
    import torch

    higher = torch.ops.higher_order
    operands = [parts[0].operands[position] for position in written]
    before = len(results(parts[-1].graph))
    if node.target is higher.cond:
        for part in parts:
            _append_results(part, written)
    elif node.target is higher.while_loop:
        _append_results(parts[1], written)
        _carry(node, parts, written)
    else:
        raise LoweringError(
            f"{describe(node)} writes a buffer in its body, which torch cannot export for this "
            "operator: give the buffer's value to the body, and write what comes out"
        )
    values = [operand.meta["val"] for operand in operands]
    node.meta["val"] = (*node.meta["val"], *values)
    graph = node.graph
    behind = _last_result(node)
    for offset, operand in enumerate(operands):
        with graph.inserting_after(behind):
            new = graph.call_function(operator.getitem, (node, before + offset))
        with graph.inserting_after(new):
            args = (operand, new)
            behind = graph.call_function(torch.ops.aten.copy_.default, args)
        for made in (new, behind):
            made.meta = {**node.meta, "val": operand.meta["val"]}


def _last_result(node: Node) -> Node:
    """The last ``getitem`` of a node, or itself."""
    items = [user for user in node.users if user.target is operator.getitem]
    return next((n for n in reversed(list(node.graph.nodes)) if n in items), node)


def _append_results(part: Nested, written: list[int]) -> None:
    """Write copies of what is given, and return those too."""
    import torch

    graph, placeholders = part.graph, part.placeholders
    copies: list[Node] = []
    for position in reversed(written):
        placeholder = placeholders[position]
        with graph.inserting_after(placeholders[-1]):
            clone = graph.call_function(torch.ops.aten.clone.default, (placeholder,))
        clone.meta = dict(placeholder.meta)
        placeholder.replace_all_uses_with(clone, delete_user_cb=lambda user, c=clone: user is not c)
        copies.insert(0, clone)
    graph.output_node().args = ((*results(graph), *copies),)


def _carry(node: Node, parts: list[Nested], written: list[int]) -> None:
    """Move written operands of a loop from those that stay to those that go round."""
    condition, body, carried, others = node.args
    if any(position < len(carried) for position in written):
        raise LoweringError(f"{describe(node)} writes a value that goes round the loop in place")
    for part in parts:
        _reorder(part, len(carried), written)
    stay: list[Any] = [v for i, v in enumerate(others, len(carried)) if i not in written]
    go = [others[position - len(carried)] for position in written]
    node.args = (condition, body, (*carried, *go), tuple(stay))
    node.kwargs = {k: v for k, v in node.kwargs.items() if k != "mutated_arg_indices"}


def _reorder(part: Nested, count: int, written: list[int]) -> None:
    """Put the placeholders at ``written`` right behind the first ``count``."""
    placeholders = part.placeholders
    last = placeholders[count - 1]
    for position in written:
        last.append(placeholders[position])
        last = placeholders[position]
