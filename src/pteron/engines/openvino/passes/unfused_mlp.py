"""Gated MLPs, ``down(act(gate(x)) * up(x))``, kept from a fusion that one thread cannot run.

In 16 bits, on processors with AMX, OpenVINO makes one operation of such an MLP: three linear
layers without biases, and SiLU or GELU however they are written. It deals its work out to pairs of
threads when it is compiled or imported. With one thread that divides by zero, which ends the
process.
"""

from __future__ import annotations

from typing import Any

from pteron.engines.openvino.passes.graph_walk import with_bodies
from pteron.engines.openvino.passes.mlp_pattern import is_gated
from pteron.engines.openvino.passes.target import Target


def unfused_mlp(model: Any, target: Target) -> int:
    """Say of the product in every gated MLP that it broadcasts nothing.

    That is true and costs nothing, and the fusion only knows products that may broadcast.
    """
    if not target.one_thread:
        return 0
    nodes = (node for graph in with_bodies(model) for node in graph.get_ordered_ops())
    gated = list(filter(is_gated, nodes))
    for node in gated:
        node.set_attribute("auto_broadcast", "none")
    return len(gated)
