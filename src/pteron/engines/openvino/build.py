"""From a package's function to an OpenVINO model and the signature that callers see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pteron.engines.base import FunctionInfo, ValueInfo
from pteron.engines.description import Features, features
from pteron.engines.feature_types import described
from pteron.engines.openvino._import import ov
from pteron.engines.openvino.checks import Check, checks_output
from pteron.engines.openvino.stages import join
from pteron.engines.openvino.translate import Ports
from pteron.engines.openvino.types import StateType, TensorType
from pteron.errors import EngineError
from pteron.payloads.coreml.package import CoreMLPackage


@dataclass(frozen=True)
class Built:
    """A function, ready for OpenVINO's compiler; ports are in the signature's order.

    Behind the signature's outputs follows, where there are checks, that of their answers.
    """

    model: Any
    info: FunctionInfo
    labels: Mapping[str, list[Any]]
    checks: tuple[Check, ...]


def build(package: CoreMLPackage, function: str) -> Built:
    """Translate one function. Raises EngineError that names the op that cannot be."""
    known = features(package, function)
    joined = join(package, function)
    if package.is_pipeline:  # what stages only hand on to one another is no output
        joined.outputs = {n: port for n, port in joined.outputs.items() if n in known.outputs}
    inputs = _ordered(joined.inputs, known.inputs, f"function '{function}': input")
    outputs = _ordered(joined.outputs, known.outputs, f"function '{function}': output")
    answers = [checks_output(joined.demands)] if joined.demands else []
    try:
        model = ov.Model(
            [*(port for port, _ in outputs.values()), *answers, *joined.unread],
            joined.sinks,
            [port for port, _ in inputs.values()],
            function,
        )
    except RuntimeError as error:  # shapes that only fit where they are flexible
        raise EngineError(f"function '{function}': {error}", function=function) from error
    info = FunctionInfo(
        function,
        inputs=_infos(inputs, known),
        outputs=tuple(ValueInfo(n, t.dtype, t.shape) for n, (_, t) in outputs.items()),
        states=tuple(_state_info(s.name, s.type) for s in joined.states),
    )
    labels = {n: labels for n, labels in joined.labels.items() if n in outputs}
    return Built(model, info, labels, tuple(check for check, _ in joined.demands))


def _ordered(values: Ports, names: Sequence[str], what: str) -> Ports:
    """Values in the order of ``names``; in the program's own order where names are not known."""
    if not names:
        return values
    for name in (*names, *values):
        if name not in values or name not in names:
            raise EngineError(f"{what} '{name}' is not in both the program and its description")
    return {name: values[name] for name in names}


def _infos(ports: Ports, known: Features) -> tuple[ValueInfo, ...]:
    return tuple(
        described(name, type.dtype, type.shape, known.described.get(name))
        for name, (_, type) in ports.items()
    )


def _state_info(name: str, type: Any) -> ValueInfo:
    assert isinstance(type, StateType)
    tensor: TensorType = type.tensor
    return ValueInfo(name, tensor.dtype, tensor.shape)
