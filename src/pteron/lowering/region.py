"""A part of a graph, carved out as a program of its own."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.export.graph_signature import InputSpec, OutputSpec
    from torch.fx import Graph, Node


@dataclass(frozen=True)
class Region:
    """What a delegate will do.

    Attributes:
        nodes: the operations, in graph order.
        inputs: values it takes from outside, in call order.
        outputs: values of it that others use, in call order.
        states: names of the buffers it owns -> their names inside.
        program: the region alone; its user inputs and outputs follow ``inputs`` and ``outputs``.
    """

    nodes: tuple[Node, ...]
    inputs: tuple[Node, ...]
    outputs: tuple[Node, ...]
    states: dict[str, str]
    program: ExportedProgram


def carve(program: ExportedProgram, nodes: Collection[Node], states: Collection[str]) -> Region:
    """Cut ``nodes`` out of a functional program.

    Constants that they use come along; so do the buffers named in ``states``, with their writes.
    Everything else they read becomes an input, and what others read of them an output.
    """
    return _Carver(program, nodes, states).carve()


class _Carver:
    def __init__(
        self, program: ExportedProgram, nodes: Collection[Node], states: Collection[str]
    ) -> None:
        self.program = program
        self.members = set(nodes)
        self.nodes = [node for node in program.graph.nodes if node in self.members]
        self.specs = {spec.arg.name: spec for spec in program.graph_signature.input_specs}
        self.state_names = _unique_identifiers(
            [name for name in mutations(program) if name in states]
        )
        self.constants: dict[str, Any] = {}

    def carve(self) -> Region:
        used = self._used_from_outside() + self._only_written()
        inputs = [node for node in used if not self._comes_along(node)]
        writes = self._state_writes()
        inputs += [n for n in writes.values() if self._comes_from_outside(n) and n not in inputs]
        outputs = [node for node in self.nodes if self._is_read_outside(node)]
        along = [n for n in self.program.graph.nodes if n in used and self._comes_along(n)]
        program = self._build(along, inputs, outputs, writes)
        return Region(
            tuple(self.nodes), tuple(inputs), tuple(outputs), dict(self.state_names), program
        )

    def _used_from_outside(self) -> list[Node]:
        used = {source for node in self.nodes for source in node.all_input_nodes} - self.members
        return [node for node in self.program.graph.nodes if node in used]

    def _only_written(self) -> list[Node]:
        """Placeholders of states that nothing reads."""
        return [
            node
            for node in self.program.graph.nodes
            if node.op == "placeholder"
            and not node.users
            and self.specs[node.name].target in self.state_names
        ]

    def _comes_from_outside(self, node: Node) -> bool:
        return node not in self.members and not self._comes_along(node)

    def _comes_along(self, node: Node) -> bool:
        spec = self.specs.get(node.name)
        if spec is None or node.op != "placeholder":
            return False
        return is_constant(self.program, spec) or spec.target in self.state_names

    def _state_writes(self) -> dict[str, Node]:
        """State name -> the value it has at the end."""
        named = {node.name: node for node in self.program.graph.nodes}
        written = mutations(self.program).items()
        return {name: named[final] for name, final in written if name in self.state_names}

    def _is_read_outside(self, node: Node) -> bool:
        results = self.program.graph_signature.output_specs
        output = self.program.graph.output_node()
        for user in node.users:
            if user is output:
                if any(
                    value is node and spec.target not in self.state_names
                    for value, spec in zip(output.args[0], results, strict=True)
                ):
                    return True
            elif user not in self.members:
                return True
        return False

    def _build(
        self,
        along: Sequence[Node],
        inputs: Sequence[Node],
        outputs: Sequence[Node],
        writes: dict[str, Node],
    ) -> ExportedProgram:
        import torch
        from torch.export.graph_signature import ExportGraphSignature

        graph = torch.fx.Graph()
        copies: dict[Node, Node] = {}
        input_specs = [self._place(graph, copies, node) for node in [*along, *inputs]]
        for node in self.nodes:
            copies[node] = graph.node_copy(node, copies.__getitem__)
        results = [copies[node] for node in [*writes.values(), *outputs]]
        graph.output(tuple(results))
        signature = ExportGraphSignature(
            input_specs=input_specs,
            output_specs=_output_specs([self.state_names[n] for n in writes], results),
        )
        return _program(self.program, graph, signature, self.constants, len(inputs), len(outputs))

    def _place(self, graph: Graph, copies: dict[Node, Node], node: Node) -> InputSpec:
        from torch.export.graph_signature import InputKind, InputSpec, TensorArgument

        copy = graph.placeholder(node.name)
        copy.meta = dict(node.meta)
        copies[node] = copy
        argument = TensorArgument(copy.name)
        if not self._comes_along(node):
            copy.meta["val"] = _row_major(copy.meta["val"])
            return InputSpec(InputKind.USER_INPUT, argument, None)
        name = str(self.specs[node.name].target)
        if name in self.state_names:
            inside = self.state_names[name]
            self.constants[inside] = tensor_of(self.program, name)
            return InputSpec(InputKind.BUFFER, argument, inside, persistent=False)
        self.constants[node.name] = tensor_of(self.program, name)
        return InputSpec(InputKind.CONSTANT_TENSOR, argument, node.name)


def _row_major(value: Any) -> Any:
    """What a region is given: in a program every tensor lies so, however torch would lay it."""
    import torch

    if not isinstance(value, torch.Tensor) or value.is_contiguous():
        return value
    return value.clone(memory_format=torch.contiguous_format)


def _output_specs(states: Sequence[str], results: Sequence[Node]) -> list[OutputSpec]:
    from torch.export.graph_signature import OutputKind, OutputSpec, TensorArgument

    kinds = [(OutputKind.BUFFER_MUTATION, name) for name in states]
    kinds += [(OutputKind.USER_OUTPUT, None)] * (len(results) - len(states))  # type: ignore[list-item]
    return [
        OutputSpec(kind, TensorArgument(node.name), target)
        for node, (kind, target) in zip(results, kinds, strict=True)
    ]


def _program(
    source: ExportedProgram,
    graph: Graph,
    signature: Any,
    constants: dict[str, Any],
    inputs: int,
    outputs: int,
) -> ExportedProgram:
    import torch
    from torch.export.exported_program import ModuleCallEntry, ModuleCallSignature
    from torch.utils import _pytree

    in_spec = _pytree.tree_structure((tuple([0] * inputs), {}))
    out_spec = _pytree.tree_structure(tuple([0] * outputs))
    call = ModuleCallSignature(inputs=[], outputs=[], in_spec=in_spec, out_spec=out_spec)
    return torch.export.ExportedProgram(
        torch.fx.GraphModule(torch.nn.Module(), graph),
        graph,
        signature,
        {},
        dict(source.range_constraints),
        [ModuleCallEntry("", call)],
        constants=constants,
        verifiers=[source.verifier],
    )


def mutations(program: ExportedProgram) -> dict[str, str]:
    """Buffer (or parameter) that the program writes -> name of the node with its last value."""
    from torch.export.graph_signature import OutputKind

    written = (OutputKind.BUFFER_MUTATION, OutputKind.PARAMETER_MUTATION)
    specs = program.graph_signature.output_specs
    return {str(spec.target): spec.arg.name for spec in specs if spec.kind in written}


def names_of(program: ExportedProgram) -> dict[str, str]:
    """Name of a placeholder that stands for a tensor of the model -> the tensor's name."""
    specs = program.graph_signature.input_specs
    return {spec.arg.name: spec.target for spec in specs if spec.target is not None}


def is_constant(program: ExportedProgram, spec: InputSpec) -> bool:
    """Whether an input of the graph is a tensor that no call changes."""
    from torch.export.graph_signature import InputKind

    if spec.kind is InputKind.USER_INPUT:
        return False
    return spec.target not in mutations(program)


def tensor_of(program: ExportedProgram, name: str) -> Any:
    """The first value of a parameter, buffer or lifted constant."""
    return program.state_dict[name] if name in program.state_dict else program.constants[name]


def _unique_identifiers(names: Sequence[str]) -> dict[str, str]:
    """Dotted names -> identifiers that Core ML takes, no two alike."""
    given: dict[str, str] = {}
    for name in names:
        base = re.sub(r"\W", "_", name, flags=re.ASCII)
        base = base if re.match(r"[A-Za-z_]", base) else f"_{base}"
        candidate, count = base, 0
        while candidate in given.values():
            count += 1
            candidate = f"{base}_{count}"
        given[name] = candidate
    return given
