"""What Core ML and coremltools can take."""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pteron.lowering.coreml import quantised

if TYPE_CHECKING:
    from torch._ops import OpOverload
    from torch.fx import Node

MAX_RANK = 5
"""Most dimensions of a Core ML tensor."""


_REWRITTEN = (
    "add.Tensor",
    "argmax.default",
    "argmin.default",
    "sub.Tensor",
    "as_strided.default",
    "diagonal.default",
    "diagonal_copy.default",
    "lerp.Scalar",
)
"""Operators that coremltools 9.0 drops arguments of, or translates wrongly or only in part."""


def keeps(op: OpOverload) -> bool:
    """Whether an operator is best given to coremltools as it is, not decomposed."""
    return takes(op) and op.__name__ not in _REWRITTEN


def takes(op: OpOverload) -> bool:
    """Whether coremltools has a translation of an operator."""
    from coremltools.converters.mil.frontend.torch.torch_op_registry import _TORCH_OPS_REGISTRY

    if op.name() in quantised.OPERATORS:
        return True
    name = op.__name__
    if op.namespace == "torchao" or name.split(".")[0].endswith("_"):
        return False
    return _TORCH_OPS_REGISTRY.get_func(name) is not None


def supported(node: Node) -> bool:
    """Whether coremltools can convert this call, and Core ML can hold its values.

    Core ML computes in fp16, fp32, int32 and bool; what is int64 in PyTorch is int32 there.
    """
    if node.target is operator.getitem:
        return isinstance(node.args[0], type(node)) and supported(node.args[0])
    if not hasattr(node.target, "_schema") or not takes(node.target):
        return False
    if quantised.is_quantisation(node):
        return quantised.supported(node)
    return all(_fits(value) for value in _values(node))


def _values(node: Node) -> Iterator[Any]:
    for source in [*node.all_input_nodes, node]:
        value = source.meta.get("val")
        yield from value if isinstance(value, (tuple, list)) else [value]


def _fits(value: Any) -> bool:
    import torch
    from torch.fx.experimental.symbolic_shapes import free_unbacked_symbols

    if not isinstance(value, torch.Tensor):
        return True
    held = (torch.float16, torch.float32, torch.int32, torch.int64, torch.bool)
    if value.dtype not in held or value.dim() > MAX_RANK:
        return False
    return not any(free_unbacked_symbols(size) or size == 0 for size in value.shape)
