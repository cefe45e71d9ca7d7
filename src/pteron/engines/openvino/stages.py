"""A pipeline's programs joined into one graph, each fed by name from those before it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from pteron.engines.description import features
from pteron.engines.feature_types import bounds
from pteron.engines.openvino._import import opset, ov
from pteron.engines.openvino.checks import Demand
from pteron.engines.openvino.translate import Ports, Translator
from pteron.engines.openvino.types import TensorType
from pteron.engines.openvino.values import State
from pteron.engines.openvino.weights import PackageWeights
from pteron.errors import EngineError
from pteron.payloads.coreml.package import CoreMLPackage


@dataclass
class Joined:
    """The graph of all stages so far."""

    inputs: Ports = field(default_factory=dict)
    outputs: Ports = field(default_factory=dict)
    sinks: list[Any] = field(default_factory=list)
    unread: list[Any] = field(default_factory=list)
    labels: dict[str, list[Any]] = field(default_factory=dict)
    states: list[State] = field(default_factory=list)
    demands: list[Demand] = field(default_factory=list)


def join(package: CoreMLPackage, function: str) -> Joined:
    """A program's function, or all of a pipeline's stages. Raises EngineError naming the op."""
    joined = Joined()
    for stage in package.stages:
        _add(joined, stage, function)
    return joined


def _add(joined: Joined, stage: CoreMLPackage, function: str) -> None:
    translator = Translator(stage.program, function, PackageWeights(stage))
    known = features(stage, function).described
    shapes = {n: _partial_shape(sizes) for n, f in known.items() if (sizes := bounds(f))}
    translated = translator.translate_function(shapes)
    for name, (parameter, type) in translated.inputs.items():
        earlier = joined.outputs.get(name) or joined.inputs.get(name)
        if earlier is None:
            joined.inputs[name] = (parameter, type)
        else:
            _connect(name, earlier, parameter, type)
    if twice := {s.name for s in joined.states} & {s.name for s in translator.states}:
        raise EngineError(f"state '{twice.pop()}' belongs to two models of the pipeline")
    joined.outputs.update(translated.outputs)
    joined.sinks += translated.sinks
    joined.unread += translated.unread
    joined.labels |= translated.labels
    joined.states += translator.states
    joined.demands += translated.demands


def _connect(name: str, earlier: tuple[Any, TensorType], parameter: Any, type: TensorType) -> None:
    """Feed a stage's input with what an earlier stage, or the caller, gives under that name."""
    port, given = earlier
    output = port.input_value(0) if port.get_type_name() == "Result" else port.output(0)
    shape = parameter.get_partial_shape()
    if given.element_type is None or not shape.compatible(output.get_partial_shape()):
        raise EngineError(f"'{name}' is {given} but a later model of the pipeline takes {type}")
    if output.get_element_type() != type.element_type:
        output = opset.convert(output, type.element_type).output(0)
    parameter.output(0).replace(output)


def _partial_shape(sizes: tuple[tuple[int, int], ...]) -> Any:
    return ov.PartialShape([ov.Dimension(low, high) for low, high in sizes])
