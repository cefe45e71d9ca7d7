"""Linear layers of one x, such as a decoder's queries, keys and values, as one matrix product.

OpenVINO's threads meet before and after every product. Of few rows with small weights that costs
about as much as the product itself. So three layers or more are joined: one product with all
weights, one sum with all biases, and the parts of the result.

Two layers stay apart, as do those of a gated MLP: OpenVINO has one operation for such an MLP. So
do layers whose weights are large, since reading these takes the time.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.engines.openvino._import import opset, ov
from pteron.engines.openvino.passes.graph_walk import maker, operands, readers, same, with_bodies
from pteron.engines.openvino.passes.mlp_pattern import gated_layers, is_gated
from pteron.engines.openvino.passes.target import Target
from pteron.engines.openvino.shared import shared_constant

_LEAST = 3
"""Layers that are worth joining."""

_MOST = 8 << 20
"""Bytes of joined weights up to which joining was never measured to be slower beyond noise."""

_TYPES = (ov.Type.f16, ov.Type.f32)


@dataclass(frozen=True)
class _Layer:
    """``product(x, weights)``, or the sum of it and ``bias``, which is then the output."""

    product: Any
    weights: NDArray[Any]
    output: Any
    bias: NDArray[Any] | None


def joint_products(model: Any, target: Target) -> int:
    """Join linear layers of one x. The weights are copied, and the single ones dropped."""
    if target.exact:
        return 0
    return sum(map(_join_all, with_bodies(model)))


def _join_all(graph: Any) -> int:
    groups, weights = list(_groups(graph)), _JointWeights()
    for group in groups:
        _join(group, weights)
    return len(groups)


class _JointWeights:
    """Weights of a group as one constant, which groups of the same layers in one graph share."""

    def __init__(self) -> None:
        self._made: dict[tuple[Any, ...], Any] = {}

    def of(self, group: list[_Layer], axis: int) -> Any:
        key = axis, *((layer.weights.ctypes.data, layer.weights.shape) for layer in group)
        if key not in self._made:
            arrays = [layer.weights for layer in group]
            self._made[key] = shared_constant(np.concatenate(arrays, axis))
        return self._made[key]


def _groups(graph: Any) -> Iterator[list[_Layer]]:
    nodes = graph.get_ordered_ops()
    gated = {layer.get_name() for node in filter(is_gated, nodes) for layer in gated_layers(node)}
    alike: dict[tuple[str, int, bool], list[_Layer]] = defaultdict(list)
    for node in nodes:
        if _is_linear(node) and node.get_name() not in gated:
            x = node.input_value(0)
            alike[x.get_node().get_name(), x.get_index(), _is_transposed(node)].append(_layer(node))
    for group in alike.values():
        if len(group) >= _LEAST and sum(layer.weights.nbytes for layer in group) <= _MOST:
            yield group


def _is_linear(node: Any) -> bool:
    if node.get_type_name() != "MatMul" or node.get_attributes()["transpose_a"]:
        return False
    weights = maker(node.input_value(1), "Constant")
    return (
        weights is not None
        and weights.get_element_type() in _TYPES
        and len(weights.get_output_shape(0)) == 2
    )


def _is_transposed(product: Any) -> bool:
    return bool(product.get_attributes()["transpose_b"])


def _layer(product: Any) -> _Layer:
    weights = np.asarray(product.input_value(1).get_node().data)
    size = weights.shape[0 if _is_transposed(product) else 1]
    output = product.output(0)
    found = readers(output)
    if len(found) == 1 and found[0].get_type_name() == "Add":
        for value, other in operands(found[0]):
            bias = maker(other, "Constant")
            if same(value, output) and bias and tuple(bias.get_output_shape(0)) == (size,):
                return _Layer(product, weights, found[0].output(0), np.asarray(bias.data))
    return _Layer(product, weights, output, None)


def _join(group: list[_Layer], weights: _JointWeights) -> None:
    first = group[0].product
    axis = 0 if _is_transposed(first) else 1
    sizes = [layer.weights.shape[axis] for layer in group]
    x, joint_weights = first.input_value(0), weights.of(group, axis)
    joint = opset.matmul(x, joint_weights, False, _is_transposed(first))
    joint.friendly_name = _name((layer.product for layer in group), ".")
    if any(layer.bias is not None for layer in group):
        joint = opset.add(joint, opset.constant(_joint_bias(group, sizes)))
        joint.friendly_name = _name((layer.output.get_node() for layer in group), "..")
    parts = opset.variadic_split(joint, -1, sizes)
    parts.friendly_name = _name((layer.output.get_node() for layer in group), "")
    for layer, part in zip(group, parts.outputs(), strict=True):
        for reader in list(layer.output.get_target_inputs()):
            reader.replace_source_output(part)


def _joint_bias(group: list[_Layer], sizes: list[int]) -> NDArray[Any]:
    """All biases; zeros for the layers that have none."""
    kind = group[0].weights.dtype
    pairs = zip(group, sizes, strict=True)
    return np.concatenate([np.zeros(n, kind) if g.bias is None else g.bias for g, n in pairs])


def _name(nodes: Iterator[Any], suffix: str) -> str:
    """Of a node that stands for several, to whose names the time of it is told."""
    return ",".join(f"{node.friendly_name}{suffix}" for node in nodes)
