"""Tensors that several methods have in common: one name, and one owner where any method writes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pteron.lowering.region import mutations, tensor_of

if TYPE_CHECKING:
    from torch.export import ExportedProgram

Identity = tuple[Any, ...]


def unify(programs: Mapping[str, ExportedProgram]) -> dict[str, list[str]]:
    """Give a tensor the same name in every method, and declare every write in each that sees it.

    A method that only reads what another one writes gets a mutation output with the value
    unchanged, so that the tensor is state there too, and no constant. Returns the written
    tensors that several methods have, with the names of those methods.
    """
    names: dict[Identity, str] = {}
    users: dict[str, list[str]] = {}
    for method, program in programs.items():
        program._state_dict, program._constants = dict(program.state_dict), dict(program.constants)
        _rename(program, names)
        for name in _used(program):
            users.setdefault(name, []).append(method)
    written = {name for program in programs.values() for name in mutations(program)}
    for program in programs.values():
        _declare(program, written)
    return {name: users[name] for name in written if len(users[name]) > 1}


def _used(program: ExportedProgram) -> list[str]:
    """The tensors that the program reads or writes; torch.export lists all that the module has."""
    nodes = {node.name: node for node in program.graph.nodes}
    written = mutations(program)
    return [
        str(spec.target)
        for spec in program.graph_signature.input_specs
        if spec.target is not None and (spec.target in written or nodes[spec.arg.name].users)
    ]


def _rename(program: ExportedProgram, names: dict[Identity, str]) -> None:
    """Known tensors get the names they have; new ones become known."""
    for spec in program.graph_signature.input_specs:
        if spec.target is None:
            continue
        old = str(spec.target)
        tensor = tensor_of(program, old)
        new = names.setdefault(_identity(tensor), _unused(old, names, tensor))
        if new != old:
            store = program.state_dict if old in program.state_dict else program.constants
            store[new] = store.pop(old)
            for result in program.graph_signature.output_specs:
                if result.target == old:
                    result.target = new
            spec.target = new


def _identity(tensor: Any) -> Identity:
    if not tensor.numel():
        return (id(tensor),)
    place = (tensor.untyped_storage().data_ptr(), tensor.storage_offset())
    return (*place, tuple(tensor.shape), tensor.stride(), tensor.dtype)


def _unused(name: str, names: Mapping[Identity, str], tensor: Any) -> str:
    """A name for a tensor, other than those that different tensors have."""
    taken = {other for identity, other in names.items() if identity != _identity(tensor)}
    candidate, count = name, 0
    while candidate in taken:
        count += 1
        candidate = f"{name}_{count}"
    return candidate


def _declare(program: ExportedProgram, written: set[str]) -> None:
    from torch.export.graph_signature import OutputKind, OutputSpec, TensorArgument

    signature = program.graph_signature
    nodes = {node.name: node for node in program.graph.nodes}
    used, known = set(_used(program)), mutations(program)
    output = program.graph.output_node()
    for spec in signature.input_specs:
        name = str(spec.target)
        if name not in used or name not in written or name in known:
            continue
        argument = TensorArgument(spec.arg.name)
        signature.output_specs.insert(0, OutputSpec(OutputKind.BUFFER_MUTATION, argument, name))
        output.args = ((nodes[spec.arg.name], *output.args[0]),)
    program.graph_module.recompile()
