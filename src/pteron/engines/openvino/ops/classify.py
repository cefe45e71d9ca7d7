"""The outputs of a classifier (coremltools ``ops/defs/iOS15/classify.py``)."""

from __future__ import annotations

from math import prod

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import Array, Context, Floats
from pteron.engines.openvino.graph import ints
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.values import Classes


@mil_op(tested="NumPy")
def classify(context: Context, probabilities: Floats, classes: Array) -> list[Classes]:
    labels = classes.reshape(-1).tolist()
    shape = probabilities.get_partial_shape()
    if shape.is_static and prod(shape.to_shape()) != len(labels):
        raise OpProblem(f"{len(labels)} classes for probabilities of shape {shape}")
    flat = opset.reshape(probabilities, ints([len(labels)]), False).output(0)
    return [Classes(type, labels, flat) for type in context.output_types()]
