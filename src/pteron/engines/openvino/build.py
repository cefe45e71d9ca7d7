"""From a package's function to an OpenVINO model and the signature that callers see."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pteron.engines.base import FunctionInfo, ValueInfo
from pteron.engines.description import Bounds, features
from pteron.engines.openvino._import import ov
from pteron.engines.openvino.translate import Translator
from pteron.engines.openvino.types import StateType, TensorType
from pteron.engines.openvino.weights import PackageWeights
from pteron.errors import EngineError
from pteron.payloads.coreml.package import CoreMLPackage


@dataclass(frozen=True)
class Built:
    """A function, ready for OpenVINO's compiler; ports are in the signature's order."""

    model: Any
    info: FunctionInfo
    labels: Mapping[str, list[Any]]


def build(package: CoreMLPackage, function: str) -> Built:
    """Translate one function. Raises EngineError that names the op that cannot be."""
    known = features(package, function)
    translator = Translator(package.program, function, PackageWeights(package))
    translated = translator.translate_function(_partial_shapes(known.bounds))
    inputs = _ordered(translated.inputs, known.inputs, f"function '{function}': input")
    outputs = _ordered(translated.outputs, known.outputs, f"function '{function}': output")
    model = ov.Model(
        [*(port for port, _ in outputs.values()), *translated.unread],
        translated.sinks,
        [port for port, _ in inputs.values()],
        function,
    )
    info = FunctionInfo(
        function,
        inputs=tuple(_info(n, t, known.bounds.get(n, ())) for n, (_, t) in inputs.items()),
        outputs=tuple(_info(n, t) for n, (_, t) in outputs.items()),
        states=tuple(_info(s.name, _tensor(s.type)) for s in translator.states),
    )
    return Built(model, info, translated.labels)


def _partial_shapes(bounds: Mapping[str, Bounds]) -> dict[str, Any]:
    return {
        name: ov.PartialShape([ov.Dimension(low, high) for low, high in sizes])
        for name, sizes in bounds.items()
    }


def _ordered(values: dict[str, Any], names: Sequence[str], what: str) -> dict[str, Any]:
    """Values in the order of ``names``; in the program's own order where names are not known."""
    if not names:
        return values
    for name in (*names, *values):
        if name not in values or name not in names:
            raise EngineError(f"{what} '{name}' is not in both the program and its description")
    return {name: values[name] for name in names}


def _tensor(type: Any) -> TensorType:
    assert isinstance(type, StateType)
    return type.tensor


def _info(name: str, type: TensorType, bounds: Bounds = ()) -> ValueInfo:
    return ValueInfo(name, type.dtype, type.shape, bounds)
