"""Values that come quantised, in Core ML's terms.

Weights become ``constexpr`` operations:
``constexpr_blockwise_shift_scale`` (iOS 18) has a scale for each block and holds 4 bits;
``constexpr_affine_dequantize`` (iOS 16) has 8 bits and scales along one axis. Activations that are
rounded by a fixed scale become the pair ``quantize``, ``dequantize`` (iOS 17), between which alone
Core ML holds 8 bits.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any
from unittest import mock

if TYPE_CHECKING:
    from torch.fx import Node

OPERATOR = "pteron::dequantize_weight"
ROUND, BACK = (
    "quantized_decomposed::quantize_per_tensor",
    "quantized_decomposed::dequantize_per_tensor",
)
OPERATORS = (OPERATOR, ROUND, BACK)
"""Operators with a quantised tensor as input or output that Core ML has counterparts of."""


def is_quantisation(node: Node) -> bool:
    """Whether an operation is one of :data:`OPERATORS`."""
    return _name(node) in OPERATORS


def supported(node: Node) -> bool:
    """Whether Core ML can do it: dequantise a constant, or one half of rounding an activation."""
    if _name(node) == OPERATOR:
        return all(source.op == "placeholder" for source in node.all_input_nodes)
    if any(isinstance(argument, type(node)) for argument in node.args[1:]):
        return False
    if _name(node) == BACK:
        source = node.args[0]
        return isinstance(source, type(node)) and _name(source) == ROUND and supported(source)
    return _bits_8(node) and bool(node.users) and all(_name(user) == BACK for user in node.users)


def _bits_8(node: Node) -> bool:
    return tuple(node.args[3:5]) in ((-128, 127), (0, 255))


def _name(node: Node) -> str:
    name = getattr(node.target, "name", None)
    return str(name()) if callable(name) else ""


@contextmanager
def stored_quantised() -> Iterator[None]:
    """While open, coremltools translates :func:`pteron.lowering.quantised.operator`."""
    from coremltools.converters.mil.frontend.torch.torch_op_registry import _TORCH_OPS_REGISTRY

    functions = _TORCH_OPS_REGISTRY.name_to_func_mapping
    with mock.patch.dict(functions, {OPERATOR: _translate}):
        yield


def _translate(context: Any, node: Any) -> None:
    import numpy as np
    from coremltools.converters.mil.frontend.torch.ops import _get_inputs

    data, scale, offset, blocks = _get_inputs(context, node, expected=7)[:4]
    counts = [size // int(block) for size, block in zip(data.shape, blocks.val, strict=True)]
    scales = np.asarray(scale.val, np.float32).reshape(counts)
    shift = np.zeros(counts) if offset is None else np.asarray(offset.val).reshape(counts)
    if np.any(shift != np.round(shift)):
        raise NotImplementedError("Core ML's offsets of quantised weights are whole numbers")
    context.add(_constant(np.asarray(data.val), scales, shift, node.name), node.name)


def _constant(data: Any, scale: Any, shift: Any, name: str) -> Any:
    import numpy as np
    from coremltools.converters.mil import Builder as mb  # noqa: N813
    from coremltools.converters.mil._deployment_compatibility import AvailableTarget
    from coremltools.converters.mil.frontend._utils import _construct_constexpr_dequant_op
    from coremltools.converters.mil.mil.block import is_current_opset_version_compatible_with
    from coremltools.converters.mil.mil.types import nptype_from_builtin, string_to_builtin

    low = min(data.min(), shift.min())
    high = max(data.max(), shift.max())
    sign = "" if low < 0 else "u"
    if not is_current_opset_version_compatible_with(AvailableTarget.iOS18):
        dtype = np.dtype(f"{sign}int8")
        return _construct_constexpr_dequant_op(
            data.astype(dtype), shift.astype(dtype), scale, name=name
        )
    narrow = (low >= 0 and high <= 15) or (low >= -8 and high <= 7)
    dtype = nptype_from_builtin(string_to_builtin(f"{sign}int{4 if narrow else 8}"))
    offset = shift.astype(dtype) if shift.any() else None
    return mb.constexpr_blockwise_shift_scale(
        data=data.astype(dtype), scale=scale, offset=offset, name=name
    )
