"""Rewrites of a translated model into the forms that OpenVINO is fast at.

Each is a named pass in a file of its own that takes a model and a
:class:`~pteron.engines.openvino.passes.target.Target`, and returns how often it was applied. None
changes a result beyond rounding.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from pteron.engines.openvino.passes.count_shapes import count_shapes
from pteron.engines.openvino.passes.gated_mlp import gated_mlp
from pteron.engines.openvino.passes.joint_products import joint_products
from pteron.engines.openvino.passes.known_shapes import known_shapes
from pteron.engines.openvino.passes.rms_norm import rms_norm
from pteron.engines.openvino.passes.rotary import rotary
from pteron.engines.openvino.passes.row_repeats import row_repeats
from pteron.engines.openvino.passes.state_attention import state_attention
from pteron.engines.openvino.passes.target import Page, Target
from pteron.engines.openvino.passes.unfused_mlp import unfused_mlp
from pteron.engines.openvino.passes.wide_types import wide_types
from pteron.engines.openvino.passes.zero_bias import zero_bias

__all__ = ["PASSES", "Page", "Target", "rewrite"]

Pass = Callable[[Any, Target], int]

PASSES: Mapping[str, Pass] = {
    "known_shapes": known_shapes,
    "zero_bias": zero_bias,
    "rms_norm": rms_norm,
    "gated_mlp": gated_mlp,
    "unfused_mlp": unfused_mlp,
    "count_shapes": count_shapes,
    "row_repeats": row_repeats,
    "rotary": rotary,
    "state_attention": state_attention,
    "joint_products": joint_products,
    "wide_types": wide_types,
}
"""By name, in the order in which they are applied."""


def rewrite(model: Any, target: Target) -> dict[str, int]:
    """Apply every pass; how often each was, where it was at all."""
    counts = {name: apply(model, target) for name, apply in PASSES.items()}
    return {name: count for name, count in counts.items() if count}
