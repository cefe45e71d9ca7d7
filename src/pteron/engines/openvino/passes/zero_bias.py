"""Sums with zeros, as coremltools writes for every linear layer without a bias."""

from __future__ import annotations

from typing import Any

import numpy as np

from pteron.engines.openvino.passes.graph_walk import constant, maker, operands, replace
from pteron.engines.openvino.passes.target import Target


def zero_bias(model: Any, target: Target) -> int:
    """``matmul(x, w) + 0`` becomes ``matmul(x, w)``: the product can then be fused further."""
    return sum(map(_drop, model.get_ordered_ops()))


def _drop(node: Any) -> bool:
    if node.get_type_name() != "Add":
        return False
    for product, bias in operands(node):
        value = constant(bias) if maker(product, "MatMul") else None
        if value is None or np.any(value):
            continue
        if product.get_partial_shape() == node.output(0).get_partial_shape():
            replace(node.output(0), product)
            return True
    return False
