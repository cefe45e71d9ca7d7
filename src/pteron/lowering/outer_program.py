"""The program around the delegates, as an ``ExportedProgram`` that torch's own checks take."""

from __future__ import annotations

from collections.abc import Iterator
from copy import deepcopy
from dataclasses import replace
from operator import getitem
from typing import TYPE_CHECKING, Any

import torch
from torch._ops import HigherOrderOperator
from torch.export import ExportedProgram
from torch.export.exported_program import ModuleCallEntry, ModuleCallSignature
from torch.export.graph_signature import ExportGraphSignature, OutputKind

from pteron.lowering.outer import Delegate, Outer
from pteron.lowering.subgraphs import attribute

if TYPE_CHECKING:
    from torch.fx import GraphModule, Node


class _CallDelegate(HigherOrderOperator):  # type: ignore[misc]
    """``call_delegate(delegate, *inputs)``: the results of a delegate, as a tuple."""

    def __init__(self) -> None:
        super().__init__("pteron_call_delegate")

    def __call__(self, delegate: GraphModule, *inputs: Any) -> Any:
        return super().__call__(delegate, *inputs)


call_delegate = _CallDelegate()
"""What stands for a delegate in an outer program. torch cannot run it; runtimes do.

Its first argument is an empty module; ``module.meta["delegate"]`` has backend id, payload and
compile specs.
"""


def exported(outer: Outer) -> ExportedProgram:
    """A method without what its delegates do and own: new values of program-owned state are
    mutation outputs. It may be copied, changed and run; weights are those of the model."""
    root = torch.nn.Module()
    graph = torch.fx.Graph()
    copies: dict[Node, Node] = {}
    written_back = _written_back(outer)
    for node in outer.graph.nodes:
        if node in written_back:
            continue
        if node.op == "get_attr":
            setattr(root, str(node.target), attribute(node))
        if isinstance(node.target, Delegate):
            copies[node] = _delegate(root, graph, node, copies)
        else:
            copies[node] = graph.node_copy(node, copies.__getitem__)
            copies[node].meta.pop("module", None)
    results = [copies.get(value, value) for value in _results(outer)]
    graph.output(tuple(_told_apart(graph, outer, results)))
    return _program(outer, torch.fx.GraphModule(root, graph))


def _written_back(outer: Outer) -> set[Node]:
    """The copies into program-owned state that end the method."""
    copies = outer.graph.find_nodes(op="call_function", target=torch.ops.aten.copy_.default)
    return {node for node in copies if node.args[0] in outer.state}


def _delegate(
    root: torch.nn.Module, graph: torch.fx.Graph, node: Node, copies: dict[Node, Node]
) -> Node:
    name = f"delegate_{sum(1 for _ in root.named_children())}"
    module = torch.fx.GraphModule(torch.nn.Module(), torch.fx.Graph())
    module.meta["delegate"] = node.target
    root.add_module(name, module)
    inputs = [copies[source] for source in node.all_input_nodes]
    call = graph.call_function(call_delegate, (graph.get_attr(name), *inputs))
    call.meta = dict(node.meta)
    return call


def _results(outer: Outer) -> list[Any]:
    """Writes and outputs in the order of the output specs."""
    outputs = iter(outer.outputs)
    return [
        next(outputs) if spec.kind is OutputKind.USER_OUTPUT else outer.writes[str(spec.target)]
        for spec in outer.output_specs
    ]


def _told_apart(graph: torch.fx.Graph, outer: Outer, results: list[Any]) -> Iterator[Any]:
    """The results; what two buffers get is copied: a signature knows a buffer by its value.

    Two nodes that get one item of a tuple count as one value: torch makes them one.
    """
    written: set[object] = set()
    for spec, value in zip(outer.output_specs, results, strict=True):
        if spec.kind is OutputKind.USER_OUTPUT:
            yield value
        elif (key := value.args if value.target is getitem else value) in written:
            copy = graph.call_function(torch.ops.aten.clone.default, (value,))
            copy.meta = dict(value.meta)
            yield copy
        else:
            written.add(key)
            yield value


def _program(outer: Outer, module: GraphModule) -> ExportedProgram:
    inputs = module.graph.find_nodes(op="placeholder")
    outputs = module.graph.output_node().args[0]
    call = ModuleCallSignature([], [], outer.in_spec, outer.out_spec)
    state = set(outer.state.values())
    tensors = {name: deepcopy(t) if name in state else t for name, t in outer.tensors.items()}
    persistent = {s.target for s in outer.input_specs if s.persistent or s.kind.name == "PARAMETER"}
    return ExportedProgram(
        module,
        module.graph,
        ExportGraphSignature(
            [_named(s, v) for s, v in zip(outer.input_specs, inputs, strict=True)],
            [_named(s, v) for s, v in zip(outer.output_specs, outputs, strict=True)],
        ),
        {name: tensor for name, tensor in tensors.items() if name in persistent},
        dict(outer.range_constraints),
        [ModuleCallEntry("", call)],
        constants={name: tensor for name, tensor in tensors.items() if name not in persistent},
    )


def _named(spec: Any, value: Any) -> Any:
    """A spec under the name that its value has in this graph."""
    named = isinstance(value, torch.fx.Node)
    return replace(spec, arg=replace(spec.arg, name=value.name) if named else spec.arg)
