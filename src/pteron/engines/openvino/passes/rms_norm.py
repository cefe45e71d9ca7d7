"""Root-mean-square norms, in the form that OpenVINO has one kernel for.

What Core ML programs hold is written for fp16's range: the input is divided by its largest
magnitude (or any positive ``m``) before it is squared, ``epsilon`` by the square of it, and it
all cancels::

    y = x / m;  y / sqrt(mean(y * y) + (root / m) ** 2)  ==  x / sqrt(mean(x * x) + root ** 2)

The kernel sums in fp32, so the detour is not needed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.graph import ints
from pteron.engines.openvino.passes.graph_walk import (
    constant,
    maker,
    operands,
    replace,
    same,
    scalar,
)
from pteron.engines.openvino.passes.target import Target


@dataclass(frozen=True)
class _Norm:
    x: Any
    epsilon: float


def rms_norm(model: Any, target: Target) -> int:
    """Write norms over the last axis as ``x * (1 / sqrt(mean(x ** 2) + epsilon))``."""
    if target.exact:
        return 0
    return sum(map(_rewrite, model.get_ordered_ops()))


def _rewrite(node: Any) -> bool:
    norm = _match(node) if node.get_type_name() == "Divide" else None
    if norm is None:
        return False
    kind = norm.x.get_element_type()
    square = opset.power(norm.x, opset.constant(2.0, kind))
    mean = opset.reduce_mean(square, ints([-1]), True)
    root = opset.sqrt(opset.add(mean, opset.constant(norm.epsilon, kind)))
    replace(
        node.output(0),
        opset.multiply(norm.x, opset.divide(opset.constant(1.0, kind), root)).output(0),
    )
    return True


def _match(node: Any) -> _Norm | None:
    """``y / sqrt(mean(y * y) + c)`` with ``y = x / m`` and ``c = (root / m) ** 2``."""
    scaled, root = node.input_value(0), maker(node.input_value(1), "Sqrt")
    total = maker(root.input_value(0), "Add") if root else None
    division = maker(scaled, "Divide")
    if total is None or division is None:
        return None
    x, scale = division.input_value(0), division.input_value(1)
    for mean, floor in operands(total):
        squared = _last_axis_mean(mean)
        epsilon = _epsilon(floor, scale)
        if squared is not None and epsilon is not None and _is_square_of(squared, scaled):
            return _Norm(x, epsilon)
    return None


def _last_axis_mean(output: Any) -> Any:
    """What is averaged over the last axis, which is kept."""
    mean = maker(output, "ReduceMean")
    if mean is None or not mean.get_attributes()["keep_dims"]:
        return None
    axes = constant(mean.input_value(1))
    rank = output.get_partial_shape().rank
    if axes is None or axes.size != 1 or rank.is_dynamic:
        return None
    if int(axes.reshape(())) not in (-1, rank.get_length() - 1):
        return None
    return mean.input_value(0)


def _is_square_of(output: Any, value: Any) -> bool:
    node = maker(output, "Multiply", "Power")
    if node is None or not same(node.input_value(0), value):
        return False
    if node.get_type_name() == "Power":
        return scalar(node.input_value(1)) == 2
    return same(node.input_value(1), value)


def _epsilon(output: Any, scale: Any) -> float | None:
    """``root ** 2`` where the output is ``(root / scale) ** 2``."""
    node = maker(output, "Multiply", "Power")
    division = maker(node.input_value(0), "Divide") if node else None
    if division is None or not _is_square_of(output, node.input_value(0)):
        return None
    root = scalar(division.input_value(0))
    return root**2 if root is not None and same(division.input_value(1), scale) else None
