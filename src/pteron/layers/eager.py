"""A method as PyTorch runs it, one operator after the other, with every value kept."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch

from pteron.lowering.region import tensor_of

if TYPE_CHECKING:
    from torch.export import ExportedProgram
    from torch.fx import Node


class Eager:
    """Runs a functional exported program; its buffers are kept from call to call."""

    def __init__(self, program: ExportedProgram) -> None:
        self._program = program
        self.reset()

    def reset(self) -> None:
        """Give every buffer its first value."""
        self._written: dict[str, Any] = {}

    def __call__(self, inputs: Sequence[Any]) -> dict[str, Any]:
        """The value of every node by its name. ``inputs`` are flat, in the program's order."""
        from torch.export.graph_signature import InputKind, OutputKind

        signature = self._program.graph_signature
        given = iter(inputs)
        arguments = [
            next(given) if spec.kind is InputKind.USER_INPUT else self._tensor(str(spec.target))
            for spec in signature.input_specs
        ]
        recorder = _Recorder(self._program.graph_module)
        with torch.no_grad():
            outputs = recorder.run(*arguments)
        for value, spec in zip(outputs, signature.output_specs, strict=True):
            if spec.kind is not OutputKind.USER_OUTPUT and spec.target is not None:
                self._written[str(spec.target)] = value
        return recorder.values

    def _tensor(self, name: str) -> Any:
        value = self._written.get(name)
        return tensor_of(self._program, name) if value is None else value


class _Recorder(torch.fx.Interpreter):  # type: ignore[misc]
    def __init__(self, module: Any) -> None:
        super().__init__(module, garbage_collect_values=False)
        self.values: dict[str, Any] = {}

    def run_node(self, node: Node) -> Any:
        value = super().run_node(node)
        if isinstance(value, torch.Tensor):
            self.values[node.name] = value.detach().clone()
        return value
