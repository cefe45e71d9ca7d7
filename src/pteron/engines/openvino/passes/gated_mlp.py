"""The SiLU of gated MLPs, ``down(silu(gate(x)) * up(x))``, in the form that OpenVINO fuses.

It runs such an MLP as one operation (in bf16, on processors with AMX), but knows SiLU there only
without its factor.
"""

from __future__ import annotations

from typing import Any

from pteron.engines.openvino._import import NodeFactory
from pteron.engines.openvino.passes.graph_walk import maker, replace, scalar
from pteron.engines.openvino.passes.target import Target


def gated_mlp(model: Any, target: Target) -> int:
    """Leave the factor 1 out of every SiLU of a linear layer's output."""
    return sum(map(_rewrite, model.get_ordered_ops()))


def _rewrite(node: Any) -> bool:
    if node.get_type_name() != "Swish" or node.get_input_size() != 2:
        return False
    gate = node.input_value(0)
    if not maker(gate, "MatMul") or scalar(node.input_value(1)) != 1:
        return False
    replace(node.output(0), NodeFactory("opset4").create("Swish", [gate], {}).output(0))
    return True
