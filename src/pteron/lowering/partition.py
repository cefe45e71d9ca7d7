"""Which operations go to which delegate.

Every operation gets a layer: operations that a backend takes are in even layers, the others in the
odd ones between them, and each is in the first layer where all it needs is there. What is in one
even layer becomes one delegate. Layers only ever need earlier layers, so no cycle can arise.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pteron.errors import LoweringError
from pteron.lowering.source import describe

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import Node

Taken = Callable[["Node"], bool]


@dataclass(frozen=True)
class Together:
    """Operations that should be in one delegate: those that touch one buffer."""

    name: str
    nodes: tuple[Node, ...]


@dataclass(frozen=True)
class Partition:
    """The regions, and for each set that cannot be together the operation that is in between."""

    regions: list[set[Node]]
    parted: dict[str, Node]


def partition(program: ExportedProgram, taken: Taken, sets: Sequence[Together]) -> Partition:
    """Divide a graph, keeping each set in one region wherever that is possible.

    An operation is moved to a later layer where that brings a set together.
    """
    calls = [node for node in program.graph.nodes if node.op == "call_function"]
    inside = {node for node in calls if taken(node)}
    parted: dict[str, Node] = {}
    for group in sets:
        between = _between(group, inside)
        if between is not None:
            parted[group.name] = between
    together = [group for group in sets if group.name not in parted]
    layers = _bring_together(calls, inside, together)
    regions: dict[int, set[Node]] = {}
    for node in calls:
        if node in inside:
            regions.setdefault(layers[node], set()).add(node)
    return Partition([regions[layer] for layer in sorted(regions)], parted)


def whole_graph(program: ExportedProgram, taken: Taken) -> Partition:
    """One region with every operation.

    Raises :class:`LoweringError` that names each operation that stands in the way, with its line.
    """
    calls = [node for node in program.graph.nodes if node.op == "call_function"]
    out = [node for node in calls if not taken(node) and node.target is not operator.getitem]
    blocking = dict.fromkeys(describe(node) for node in out)
    if blocking:
        listed = "\n".join(f"  {entry}" for entry in blocking)
        raise LoweringError(f"the backend cannot take these operations:\n{listed}")
    return Partition([set(calls)] if calls else [], {})


def _between(group: Together, inside: set[Node]) -> Node | None:
    """An operation that no delegate takes, and that lies on the way from the set to itself."""
    members = set(group.nodes)
    for node in group.nodes:
        if node not in inside:
            return node
    work: list[tuple[Node, Node | None]] = [(node, None) for node in group.nodes]
    seen: set[tuple[Node, bool]] = set()
    while work:
        node, outsider = work.pop()
        if outsider is not None and node in members:
            return outsider
        for user in node.users:
            if user.op != "call_function":
                continue
            met = outsider or (None if user in inside else user)
            if (user, met is not None) not in seen:
                seen.add((user, met is not None))
                work.append((user, met))
    return None


def _bring_together(
    calls: Sequence[Node], inside: set[Node], sets: Sequence[Together]
) -> Mapping[Node, int]:
    """Layers in which each set, as far as they do not part one another, is in one layer."""
    wanted = list(sets)
    while True:
        bounds: dict[Node, int] = {}
        limit = 2 * (len(wanted) + 1) + max(_layers(calls, inside, bounds).values(), default=0)
        while True:
            layers = _layers(calls, inside, bounds)
            scattered = [g for g in wanted if len({layers[n] for n in g.nodes}) > 1]
            if not scattered:
                return layers
            for group in scattered:
                latest = max(layers[node] for node in group.nodes)
                bounds.update(dict.fromkeys(group.nodes, latest))
            if max(layers.values()) > limit:  # two sets, each to come after the other
                wanted.remove(scattered[-1])
                break


def _layers(
    calls: Sequence[Node], inside: set[Node], bounds: Mapping[Node, int]
) -> dict[Node, int]:
    """The first layer of each operation that its inputs and ``bounds`` allow."""
    layers: dict[Node, int] = {}
    for node in calls:
        taken = node in inside
        layer = bounds.get(node, 0 if taken else -1)
        for source in node.all_input_nodes:
            if source in layers:
                step = 0 if (source in inside) == taken else 1
                layer = max(layer, layers[source] + step)
        layers[node] = layer
    return layers
