"""What coremltools can convert."""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch._ops import OpOverload
    from torch.fx import Node


def takes(op: OpOverload) -> bool:
    """Whether coremltools has a translation of an operator."""
    from coremltools.converters.mil.frontend.torch.torch_op_registry import _TORCH_OPS_REGISTRY

    name = op.__name__
    return not name.split(".")[0].endswith("_") and _TORCH_OPS_REGISTRY.get_func(name) is not None


def supported(node: Node) -> bool:
    """Whether coremltools can convert this call."""
    if node.target is operator.getitem:
        return True
    return hasattr(node.target, "_schema") and takes(node.target)
