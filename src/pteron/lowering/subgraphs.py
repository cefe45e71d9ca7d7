"""Branches and loop bodies: graphs within a graph, and what they are called with."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch.fx import Graph, Node


@dataclass(frozen=True)
class Nested:
    """A graph that an operation runs, and the operation's values for its placeholders."""

    graph: Graph
    operands: tuple[Any, ...]

    @property
    def placeholders(self) -> list[Node]:
        """The graph's own names for ``operands``, in the same order."""
        return [node for node in self.graph.nodes if node.op == "placeholder"]


def nested(node: Node) -> list[Nested]:
    """The graphs that ``cond``, ``while_loop``, ``map`` or ``scan`` runs; of others, none."""
    import torch

    higher = torch.ops.higher_order
    if node.target is higher.cond:
        _, yes, no, operands = node.args
        return [Nested(graph_of(branch), tuple(operands)) for branch in (yes, no)]
    if node.target is higher.while_loop:
        condition, body, carried, additional = node.args
        operands = (*carried, *additional)
        return [Nested(graph_of(part), operands) for part in (condition, body)]
    if node.target in (higher.map_impl, higher.scan):
        body, *operands = node.args
        return [Nested(graph_of(body), tuple(value for part in operands for value in part))]
    return []


def graph_of(node: Any) -> Graph:
    """The graph that a ``get_attr`` node stands for."""
    graph: Graph = attribute(node).graph
    return graph


def attribute(node: Node) -> Any:
    """What a ``get_attr`` node stands for: a graph module, or a tensor."""
    return node.meta.get("module") or getattr(node.graph.owning_module, str(node.target))


def results(graph: Graph) -> Sequence[Any]:
    """What a graph returns, in order."""
    value = graph.output_node().args[0]
    return value if isinstance(value, (tuple, list)) else (value,)


def calls(graph: Graph) -> Iterator[Node]:
    """Every operation of a graph and of the graphs within it, in order."""
    for node in graph.nodes:
        if node.op == "call_function":
            yield node
            for inner in nested(node):
                yield from calls(inner.graph)
