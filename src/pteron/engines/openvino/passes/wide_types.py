"""fp16 values as fp32 ones, whose real type OpenVINO's precision hint then decides.

Where nothing is computed in fp16 (hints ``f32`` and ``bf16``), OpenVINO would turn fp16 into fp32
itself, weights included. Written as fp32 with fp16 weights converted in place, as it writes models
itself, weights stay as they are until a kernel packs them (see
:mod:`pteron.engines.openvino.passes.compressed`), and its fusions find their patterns.
Inputs, outputs and states keep their types.
"""

from __future__ import annotations

from typing import Any

from pteron.engines.openvino._import import opset, ov
from pteron.engines.openvino.passes.compressed import keep_compressed
from pteron.engines.openvino.passes.target import Target

_F16 = ov.Type.f16
_SOURCES = frozenset({"Constant", "Parameter", "ReadValue"})
_SINKS = frozenset({"Result", "Assign"})


def wide_types(model: Any, target: Target) -> int:
    """Compute in fp32 what the model has in fp16. Models with nested graphs are left alone."""
    nodes = model.get_ordered_ops()
    if target.hint == "f16" or any(_has_bodies(node) for node in nodes):
        return 0
    first_values = _first_values(nodes)
    changed = sum(_widen(node) for node in nodes if node.get_name() not in first_values)
    model.validate_nodes_and_infer_types()
    keep_compressed(model)
    return changed


def _has_bodies(node: Any) -> bool:
    return node.get_type_name() in ("If", "Loop", "TensorIterator")


def _first_values(nodes: list[Any]) -> set[str]:
    """Names of nodes that only make states' first values, whose type is the state's."""
    found: set[str] = set()
    waiting = [v for n in nodes if n.get_type_name() == "ReadValue" for v in n.input_values()]
    while waiting:
        node = waiting.pop().get_node()
        found.add(node.get_name())
        waiting += node.input_values()
    return found


def _widen(node: Any) -> int:
    kind = node.get_type_name()
    if kind in _SINKS:
        return _narrow_again(node)
    if kind in _SOURCES:
        return _convert_after(node)
    return _retype(node)


def _narrow_again(sink: Any) -> int:
    source = sink.input_value(0)
    if source.get_element_type() != _F16 or source.get_node().get_type_name() in _SOURCES:
        return 0
    sink.input(0).replace_source_output(opset.convert(source, _F16).output(0))
    return 0


def _convert_after(source: Any) -> int:
    output = source.output(0)
    if output.get_element_type() != _F16:
        return 0
    readers = [r for r in output.get_target_inputs() if r.get_node().get_type_name() not in _SINKS]
    if not readers:
        return 0
    wide = opset.convert(output, ov.Type.f32)
    wide.friendly_name = f"{source.friendly_name}~"
    for reader in readers:
        reader.replace_source_output(wide.output(0))
    return 1


def _retype(node: Any) -> int:
    """Element types that are attributes (of conversions, ranges, random numbers)."""
    for name, value in node.get_attributes().items():
        if value == "f16":
            node.set_attribute(name, "f32")
    return 0
