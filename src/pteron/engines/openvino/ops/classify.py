"""The outputs of a classifier (coremltools ``ops/defs/iOS15/classify.py``)."""

from __future__ import annotations

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import Array, Context, Floats
from pteron.engines.openvino.graph import ints
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.values import Classes


@mil_op(tested="NumPy")
def classify(context: Context, probabilities: Floats, classes: Array) -> list[Classes]:
    flat = opset.reshape(probabilities, ints([-1]), False).output(0)
    labels = classes.tolist()
    return [Classes(type, labels, flat) for type in context.output_types()]
