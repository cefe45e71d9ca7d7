"""Which operations go to a delegate."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from pteron.errors import LoweringError
from pteron.lowering.source import describe

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import Node


def whole_graph(program: ExportedProgram, supported: Callable[[Node], bool]) -> list[set[Node]]:
    """One region with every operation.

    Raises :class:`LoweringError` that names each operation that stands in the way, with its line.
    """
    calls = [node for node in program.graph.nodes if node.op == "call_function"]
    blocking = dict.fromkeys(describe(node) for node in calls if not supported(node))
    if blocking:
        listed = "\n".join(f"  {entry}" for entry in blocking)
        raise LoweringError(f"the backend cannot take these operations:\n{listed}")
    return [set(calls)] if calls else []
