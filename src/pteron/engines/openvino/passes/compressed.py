"""Weights that stay as they are stored until a kernel packs them.

OpenVINO computes every conversion of a constant when it compiles, so fp16 weights written as
``Constant -> Convert`` would lie in memory three times: as stored, as fp32, and as a kernel packs
them. A mark that its own converters set, ``decompression``, makes it leave such a conversion to the
kernel, which has the same numbers. No file keeps a mark that was set from Python, so graphs that
are read from files are marked again.
"""

from __future__ import annotations

from typing import Any

from pteron.engines.openvino._import import ov
from pteron.engines.openvino.passes.graph_walk import maker, readers

_MARK = "decompression_0"
_KERNELS = frozenset({"MatMul", "Gather"})
"""Operations whose kernels read compressed constants."""


def keep_compressed(model: Any) -> int:
    """Mark conversions of fp16 weights, and of tables that rows are taken of, to fp32."""
    weights = [node for node in model.get_ordered_ops() if _is_weight(node)]
    for node in weights:
        node.get_rt_info()[_MARK] = True
    return len(weights)


def _is_weight(node: Any) -> bool:
    if node.get_type_name() != "Convert" or not maker(node.input_value(0), "Constant"):
        return False
    kinds = node.get_input_element_type(0), node.get_output_element_type(0)
    used_by = {reader.get_type_name() for reader in readers(node.output(0))}
    return kinds == (ov.Type.f16, ov.Type.f32) and used_by <= _KERNELS
