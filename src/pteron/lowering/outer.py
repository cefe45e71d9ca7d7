"""The program around the delegates: what remains of a method's graph."""

from __future__ import annotations

import heapq
import operator
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from pteron.lowering.region import Region, is_constant, tensor_of
from pteron.lowering.weights import WeightRecord

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.export.graph_signature import InputSpec, OutputSpec
    from torch.fx import Graph, Node


@dataclass(eq=False)
class Delegate:
    """A payload to call: what the file will say about it.

    ``places`` says, for each output of its region, which output of the payload that is;
    ``weights`` what became of its constants. ``model`` is what the payload was made of; a payload
    may come to be a reference to a package that holds it beside others.
    """

    backend_id: str
    payload: bytes
    compile_specs: Mapping[str, bytes]
    places: Sequence[int]
    weights: tuple[WeightRecord, ...] = ()
    model: Any = None

    @property
    def __name__(self) -> str:  # torch.fx prints targets by this name
        return self.backend_id

    def __call__(self, *_: Any) -> Any:
        raise TypeError("a delegate is called by the program's runtime, not by torch")


@dataclass
class Outer:
    """One method, ready to be emitted.

    Attributes:
        graph: operator calls, delegate calls (target :class:`Delegate`) and ``getitem`` of both.
        inputs: placeholders of the caller's inputs, in order.
        outputs: what the method returns, in order: values of the graph or plain scalars.
        state: placeholders of buffers that the program owns -> name.
        constants: placeholders of tensors that never change -> name.
        tensors: first values of ``state`` and ``constants``, by name.
        writes: name of state -> the value it gets.
        input_specs, output_specs: of the placeholders, and of writes and outputs, in the words
            of ``torch.export``.
        range_constraints: bounds of dynamic sizes.
        program: what was divided, in functional form.
        regions: call of a delegate -> the nodes of ``program`` that are inside.
        sources: node of ``graph`` -> the node of ``program`` whose value it has.
        values: node of ``graph`` -> where the emitted plan keeps its value; several for a list.
    """

    name: str
    graph: Graph
    inputs: list[Node]
    outputs: list[Any]
    state: dict[Node, str]
    constants: dict[Node, str]
    tensors: dict[str, Any]
    in_spec: Any
    out_spec: Any
    range_constraints: Mapping[Any, Any]
    writes: dict[str, Node] = field(default_factory=dict)
    input_specs: list[InputSpec] = field(default_factory=list)
    output_specs: list[OutputSpec] = field(default_factory=list)
    program: ExportedProgram | None = None
    regions: dict[Node, Collection[Node]] = field(default_factory=dict)
    sources: dict[Node, Node] = field(default_factory=dict)
    values: Mapping[Node, int | list[int]] = field(default_factory=dict)


def outline(
    name: str, program: ExportedProgram, regions: Sequence[tuple[Region, Delegate]]
) -> Outer:
    """Replace each region by a call of its delegate, and write program-owned state back."""
    outer = _Outliner(name, program, regions).outline()
    _write_back(outer)
    return outer


class _Outliner:
    def __init__(
        self, name: str, program: ExportedProgram, regions: Sequence[tuple[Region, Delegate]]
    ) -> None:
        import torch

        self.name = name
        self.program = program
        self.regions = regions
        self.region_of = {node: i for i, (region, _) in enumerate(regions) for node in region.nodes}
        self.owned = {state for region, _ in regions for state in region.states}
        self.graph = torch.fx.Graph()
        self.copies: dict[Node, Node] = {}
        self.inside: dict[Node, Collection[Node]] = {}

    def outline(self) -> Outer:
        outer = Outer(
            name=self.name,
            graph=self.graph,
            inputs=[],
            outputs=[],
            state={},
            constants={},
            tensors={},
            in_spec=self.program.call_spec.in_spec,
            out_spec=self.program.call_spec.out_spec,
            range_constraints=dict(self.program.range_constraints),
        )
        self._placeholders(outer)
        self._subgraphs()
        for unit in self._in_order():
            if isinstance(unit, int):
                self._call(*self.regions[unit])
            else:
                self.copies[unit] = self.graph.node_copy(unit, self.copies.__getitem__)
        self._results(outer)
        outer.program, outer.regions = self.program, self.inside
        outer.sources = {copy: node for node, copy in self.copies.items()}
        return outer

    def _placeholders(self, outer: Outer) -> None:
        from torch.export.graph_signature import InputKind

        nodes = {node.name: node for node in self.program.graph.nodes if node.op == "placeholder"}
        inside = set(self.region_of)
        for spec in self.program.graph_signature.input_specs:
            node = nodes[spec.arg.name]
            user = spec.kind is InputKind.USER_INPUT
            if not user and (
                spec.target in self.owned
                or (is_constant(self.program, spec) and set(node.users) <= inside)
            ):
                continue
            copy = self.copies[node] = self.graph.node_copy(node, self.copies.__getitem__)
            outer.input_specs.append(replace(spec))
            if user:
                outer.inputs.append(copy)
                continue
            target = str(spec.target)
            outer.tensors[target] = tensor_of(self.program, target)
            (outer.constants if is_constant(self.program, spec) else outer.state)[copy] = target

    def _subgraphs(self) -> None:
        for node in self.program.graph.nodes:
            if node.op == "get_attr":
                copy = self.copies[node] = self.graph.node_copy(node, self.copies.__getitem__)
                copy.meta["module"] = getattr(self.program.graph_module, node.target)

    def _in_order(self) -> list[Node | int]:
        """Operations and regions (by index), each after what it needs, else as in the graph."""
        calls = [n for n in self.program.graph.nodes if n.op == "call_function"]
        position: dict[Node | int, int] = {}
        needs: dict[Node | int, set[Node | int]] = {}
        for index, node in enumerate(calls):
            unit = self.region_of.get(node, node)
            position.setdefault(unit, index)
            sources = {self.region_of.get(s, s) for s in node.all_input_nodes}
            needs.setdefault(unit, set()).update(s for s in sources if s != unit)
        return _topological(position, needs)

    def _call(self, region: Region, delegate: Delegate) -> None:
        inputs = tuple(self.copies[node] for node in region.inputs)
        call = self.graph.call_function(delegate, inputs)
        self.inside[call] = region.nodes
        by_place = dict(zip(delegate.places, region.outputs, strict=True))
        call.meta["val"] = tuple(by_place[place].meta["val"] for place in range(len(by_place)))
        for place, node in zip(delegate.places, region.outputs, strict=True):
            item = self.graph.call_function(operator.getitem, (call, place))
            item.meta = dict(node.meta)
            self.copies[node] = item

    def _results(self, outer: Outer) -> None:
        from torch.export.graph_signature import OutputKind

        values = self.program.graph.output_node().args[0]
        specs = self.program.graph_signature.output_specs
        for value, spec in zip(values, specs, strict=True):
            if spec.kind is OutputKind.USER_OUTPUT:
                outer.outputs.append(self.copies.get(value, value))
            elif spec.target not in self.owned:
                outer.writes[str(spec.target)] = self.copies[value]
            else:
                continue
            outer.output_specs.append(replace(spec))


def _topological(
    position: Mapping[Node | int, int], needs: Mapping[Node | int, set[Node | int]]
) -> list[Node | int]:
    waiting = {u: {s for s in sources if s in position} for u, sources in needs.items()}
    users: dict[Node | int, list[Node | int]] = {}
    for unit, sources in waiting.items():
        for source in sources:
            users.setdefault(source, []).append(unit)
    ready = [(position[u], u) for u, sources in waiting.items() if not sources]
    by_position = dict(ready)
    heap = list(by_position)
    heapq.heapify(heap)
    order: list[Node | int] = []
    while heap:
        unit = by_position[heapq.heappop(heap)]
        order.append(unit)
        for user in users.get(unit, ()):
            waiting[user].discard(unit)
            if not waiting[user]:
                by_position[position[user]] = user
                heapq.heappush(heap, position[user])
    if len(order) != len(position):
        raise AssertionError("regions depend on each other in a cycle")
    return order


def _write_back(outer: Outer) -> None:
    """End the method by copying new values into the buffers that the program owns."""
    import torch

    for buffer, name in outer.state.items():
        if outer.writes.get(name, buffer) is not buffer:
            args = (buffer, outer.writes[name])
            write = outer.graph.call_function(torch.ops.aten.copy_.default, args)
            write.meta = dict(buffer.meta)
