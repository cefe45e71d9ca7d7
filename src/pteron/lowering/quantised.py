"""Weights that come quantised: one operator for all the ways in which torch says so.

torchao's weight-only configurations, PT2E's ``quantized_decomposed`` graphs and torchao's int8
tensors (which scale the product, not the weight) become calls of ``pteron::dequantize_weight`` on a
constant. A backend that can store such weights takes it; everywhere else it is decomposed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pteron.errors import LoweringError
from pteron.lowering.region import is_constant
from pteron.lowering.source import describe

if TYPE_CHECKING:
    from torch import Tensor
    from torch.export import ExportedProgram
    from torch.fx import Node

_SCHEMA = (
    "dequantize_weight(Tensor data, Tensor scale, Tensor? offset, int[] blocks, int low, "
    "int high, ScalarType dtype) -> Tensor"
)
_PART_OF_A_SUBCLASS = re.compile(r"parametrizations\.(\w+)\.original\d+$")
_SOURCES = ("torchao", "quantized_decomposed", "export")


@functools.cache
def operator() -> Any:
    """``pteron::dequantize_weight``: ``(data - offset) * scale``, one scale for each block.

    ``blocks`` is the block's size along each axis of ``data``; ``scale`` and ``offset`` have as
    many elements as there are blocks. ``low`` and ``high`` bound what ``data`` holds.
    """
    import torch

    library = torch.library.Library("pteron", "FRAGMENT")
    library.define(_SCHEMA)
    library.impl("dequantize_weight", dequantized, "CompositeExplicitAutograd")
    _kept.append(library)
    return torch.ops.pteron.dequantize_weight.default


_kept: list[Any] = []  # a Library takes its operators along when it goes


def dequantized(
    data: Tensor,
    scale: Tensor,
    offset: Tensor | None,
    blocks: Sequence[int],
    low: int,
    high: int,
    dtype: Any,
) -> Tensor:
    """What the operator computes."""
    grouped: list[int] = []
    spread: list[int] = []
    for size, block in zip(data.shape, blocks, strict=True):
        grouped += [size // block, block]
        spread += [size // block, 1]
    values = data.reshape(grouped).to(dtype)
    if offset is not None:
        values = values - offset.reshape(spread).to(dtype)
    return (values * scale.reshape(spread).to(dtype)).reshape(data.shape)


def decompositions() -> dict[Any, Any]:
    """The operator, and PT2E's rounding of activations where it is registered, in aten's terms."""
    import torch

    pt2e = torch.ops.quantized_decomposed
    table: dict[Any, Any] = {operator(): dequantized}
    if hasattr(pt2e, "quantize_per_tensor"):
        table[pt2e.quantize_per_tensor.default] = _quantized
        table[pt2e.dequantize_per_tensor.default] = _dequantized
    return table


def _quantized(x: Tensor, scale: float, zero: int, low: int, high: int, dtype: Any) -> Tensor:
    import torch

    return torch.clamp(torch.round(x * (1.0 / scale)) + zero, low, high).to(dtype)


def _dequantized(
    x: Tensor, scale: float, zero: int, low: int, high: int, dtype: Any, *, out_dtype: Any = None
) -> Tensor:
    import torch

    return (x.to(out_dtype or torch.float32) - zero) * scale


def gathered(program: ExportedProgram) -> ExportedProgram:
    """The program with every dequantised constant written as one operator; else as it is.

    Raises :class:`LoweringError` for what is quantised anew at every call with a scale of its own.
    """
    if not any(_source(node) for node in program.graph.nodes):
        return program
    program = program.run_decompositions({})  # tensor subclasses become their parts
    _Gatherer(program).gather()
    return program


def names_of(program: ExportedProgram) -> dict[str, str]:
    """Name of a dequantised weight in the graph -> name of the model's tensor."""
    targets = {s.arg.name: str(s.target) for s in program.graph_signature.input_specs}
    return {
        node.name: _PART_OF_A_SUBCLASS.sub(r"\1", targets[node.args[0].name])
        for node in program.graph.find_nodes(op="call_function", target=operator())
    }


def _source(node: Node) -> str:
    namespace = str(getattr(node.target, "namespace", ""))
    return namespace if namespace in _SOURCES else ""


class _Gatherer:
    def __init__(self, program: ExportedProgram) -> None:
        self.program = program
        specs = program.graph_signature.input_specs
        self.constants = {spec.arg.name for spec in specs if is_constant(program, spec)}

    def gather(self) -> None:
        graph = self.program.graph
        for node in list(graph.nodes):
            if node.op == "call_function":
                self._rewrite(node)
        graph.eliminate_dead_code()
        self.program.graph_module.recompile()

    def _rewrite(self, node: Node) -> None:
        name = str(node.target)
        if name.startswith("quantized_decomposed.choose_qparams"):
            raise LoweringError(
                f"{describe(node)}: activations that are quantised with a scale computed at every "
                "call are not supported; quantise weights only, or activations with fixed scales"
            )
        if name == "torchao.dequantize_affine.default":
            self._affine(node)
        elif name == "quantized_decomposed.dequantize_per_channel.default":
            self._per_channel(node)
        elif name == "quantized_decomposed.dequantize_per_channel_group.default":
            self._per_group(node)
        elif name == "aten.mul.Tensor":
            self._scaled_product(node)

    def _is_constant(self, value: Any) -> bool:
        return getattr(value, "op", "") == "placeholder" and value.name in self.constants

    def _affine(self, node: Node) -> None:
        data, blocks, scale, offset, _, low, high = _arguments(node)[:7]
        if not self._is_constant(data) or low is None or high is None:
            return
        self._replace(node, data, scale, offset, blocks, low, high)

    def _per_channel(self, node: Node) -> None:
        data, scale, offset, axis, low, high = _arguments(node)[:6]
        if self._is_constant(data):
            blocks = list(data.meta["val"].shape)
            blocks[axis] = 1
            self._replace(node, data, scale, offset, blocks, low, high)

    def _per_group(self, node: Node) -> None:
        data, scale, offset, low, high, _, group = _arguments(node)[:7]
        if self._is_constant(data):
            self._replace(node, data, scale, offset, [1, group], low, high)

    def _scaled_product(self, node: Node) -> None:
        """``mm(x, weight.t().to(float)) * scale``: scale the weight, which Core ML can store."""
        import torch

        aten = torch.ops.aten
        product, scale = node.args
        scale = self._past(scale, aten.view.default)
        if getattr(product, "target", None) is not aten.mm.default or not self._is_constant(scale):
            return
        x, weight = product.args
        data = self._past(weight, aten._to_copy.default, aten.t.default)
        if not self._is_constant(data) or data.meta["val"].dtype is not torch.int8:
            return
        rows, columns = data.meta["val"].shape
        if scale.meta["val"].numel() not in (1, rows) or len(product.users) > 1:
            return
        blocks = [1 if scale.meta["val"].numel() == rows else rows, columns]
        graph = self.program.graph
        with graph.inserting_before(node):
            made = self._dequantize(node, data, scale, None, blocks, -128, 127)
            made.meta["val"] = data.meta["val"].to(node.meta["val"].dtype)
            turned = graph.call_function(aten.t.default, (made,))
            turned.meta = {**node.meta, "val": made.meta["val"].t()}
            whole = graph.call_function(aten.mm.default, (x, turned))
            whole.meta = dict(node.meta)
        node.replace_all_uses_with(whole)
        self._now(node, whole)

    def _past(self, value: Any, *targets: Any) -> Any:
        """What a chain of operations with one input starts from."""
        while getattr(value, "target", None) in targets:
            value = value.args[0]
        return value

    def _replace(
        self, node: Node, data: Node, scale: Any, offset: Any, blocks: Any, low: int, high: int
    ) -> None:
        with self.program.graph.inserting_before(node):
            made = self._dequantize(node, data, scale, offset, blocks, low, high)
        made.meta = dict(node.meta)
        node.replace_all_uses_with(made)
        self._now(node, made)

    def _dequantize(
        self, node: Node, data: Node, scale: Any, offset: Any, blocks: Any, low: int, high: int
    ) -> Node:
        arguments = (data, scale, offset, list(blocks), low, high, node.meta["val"].dtype)
        made = self.program.graph.call_function(operator(), arguments)
        made.meta = dict(node.meta)
        return made

    def _now(self, old: Node, new: Node) -> None:
        """Let the signature name the node that stands for ``old``."""
        for spec in self.program.graph_signature.output_specs:
            if spec.arg.name == old.name:
                spec.arg.name = new.name


def _arguments(node: Node) -> list[Any]:
    """Positional arguments of a call, with keywords and defaults filled in."""
    schema: Any = node.target._schema
    given = dict(zip((a.name for a in schema.arguments), node.args, strict=False))
    given.update(node.kwargs)
    return [
        given.get(a.name, a.default_value if a.has_default_value() else None)
        for a in schema.arguments
    ]
