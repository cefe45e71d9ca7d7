"""Tensors that a model holds without having registered them, and writes.

torch.export lifts such an attribute (``self.count = torch.zeros(1)``), or one in a list, as a
constant, and its decomposition refuses one that is written.
"""

from __future__ import annotations

import copy
from typing import TYPE_CHECKING

from pteron.lowering.accesses import is_written

if TYPE_CHECKING:
    from torch.export import ExportedProgram


def as_buffers(program: ExportedProgram) -> ExportedProgram:
    """The program with its written constants as non-persistent buffers of the same names."""
    from torch.export.graph_signature import InputKind, TensorArgument

    constants = [
        position
        for position, spec in enumerate(program.graph_signature.input_specs)
        if spec.kind is InputKind.CONSTANT_TENSOR
    ]
    placeholders = program.graph.find_nodes(op="placeholder")
    written = [position for position in constants if is_written(placeholders[position])]
    if not written:
        return program
    program = copy.copy(program)
    program._graph_module = copy.deepcopy(program.graph_module)
    program._graph_signature = copy.deepcopy(program.graph_signature)
    placeholders = program.graph.find_nodes(op="placeholder")
    for position in written:
        spec, placeholder = program.graph_signature.input_specs[position], placeholders[position]
        spec.kind, spec.persistent = InputKind.BUFFER, False
        placeholder._rename(f"b_{placeholder.name.removeprefix('c_')}")  # as torch names buffers
        placeholder.target = placeholder.name
        spec.arg = TensorArgument(placeholder.name)
    return program
