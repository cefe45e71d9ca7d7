"""What a Core ML model's description says of a function's inputs and outputs.

The ML program has their types; the description and the payload's metadata have their order, and
the description what :mod:`pteron.engines.feature_types` reads.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pteron.engines.base import FunctionInfo, ValueInfo
from pteron.engines.feature_types import ARRAY_DTYPES, bounds, described
from pteron.errors import UnsupportedError
from pteron.payloads.coreml.metadata import MethodNames
from pteron.payloads.coreml.package import CoreMLPackage
from pteron.payloads.coreml.proto.model_pb2 import (
    FeatureDescription,
    FunctionDescription,
    ModelDescription,
)


@dataclass(frozen=True)
class Features:
    """Names in call order (empty where unknown), and what is said of each, by name."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    described: Mapping[str, FeatureDescription]


def function_names(package: CoreMLPackage) -> list[str]:
    """Functions of the package's program, the default one first; a pipeline is one function."""
    if package.is_pipeline:
        return ["main"]
    default = package.model.description.defaultFunctionName or "main"
    return sorted(package.program.functions, key=lambda name: (name != default, name))


def features(package: CoreMLPackage, function: str) -> Features:
    """What is known of a function beyond its program."""
    found = function_description(package.model.description, function)
    names = package.metadata.methods.get(function) or package.metadata.names
    if not names.inputs and not names.outputs:
        names = MethodNames(_names(found.input), _names(found.output))
    by_name = {feature.name: feature for feature in (*found.input, *found.output)}
    return Features(names.inputs, names.outputs, by_name)


def function_description(
    description: ModelDescription, function: str
) -> ModelDescription | FunctionDescription:
    """The part of a model's description that is of this function."""
    return next((f for f in description.functions if f.name == function), description)


def _names(described: Iterable[FeatureDescription]) -> tuple[str, ...]:
    return tuple(feature.name for feature in described)


def described_functions(package: CoreMLPackage) -> list[FunctionInfo]:
    """Signatures as the description alone has them, the default function first.

    Raises UnsupportedError for a feature that is no array.
    """
    description = package.model.description
    if not description.functions:
        return [_function_info(package, "main", description)]
    default = description.defaultFunctionName
    ordered = sorted(description.functions, key=lambda f: f.name != default)
    return [_function_info(package, f.name, f) for f in ordered]


def _function_info(
    package: CoreMLPackage, name: str, found: ModelDescription | FunctionDescription
) -> FunctionInfo:
    known = features(package, name)
    inputs = {f.name: _value_info(f) for f in found.input}
    outputs = {f.name: _value_info(f) for f in found.output}
    return FunctionInfo(
        name,
        tuple(inputs[n] for n in known.inputs),
        tuple(outputs[n] for n in known.outputs),
        tuple(_value_info(f) for f in found.state),
    )


def _value_info(feature: FeatureDescription) -> ValueInfo:
    kind = feature.type.WhichOneof("Type")
    is_state = kind == "stateType"
    array = feature.type.stateType.arrayType if is_state else feature.type.multiArrayType
    if (not is_state and kind != "multiArrayType") or array.dataType not in ARRAY_DTYPES:
        raise UnsupportedError(f"feature '{feature.name}' is no array but {kind}")
    sizes = bounds(feature) or tuple((size, size) for size in array.shape)
    shape = tuple(low if low == high else None for low, high in sizes)
    return described(feature.name, ARRAY_DTYPES[array.dataType], shape, feature)
