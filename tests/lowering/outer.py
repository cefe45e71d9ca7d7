"""Checks of the program around the delegates."""

from __future__ import annotations

import copy

import torch
from torch._export.verifier import Verifier

from pteron.files import PTEFile
from pteron.lowering.outer_program import call_delegate


def check_outer_program(file: PTEFile) -> None:
    """Each method's outer program is valid for torch, as is a copy, and calls every delegate."""
    for name, method in file.methods.items():
        program = file.lowering_report.outer_program(name)
        for one in (program, copy.deepcopy(program)):
            one._validate()
            Verifier().check(one)
            calls = one.graph.find_nodes(op="call_function", target=call_delegate)
            found = [getattr(one.graph_module, c.args[0].target).meta["delegate"] for c in calls]
            assert [d.backend_id for d in found] == [d.id for d in method.plan.delegates]
        assert _values(program) == len(method.plan.inputs)


def _values(program: torch.export.ExportedProgram) -> int:
    return len(program.graph_signature.user_inputs)
