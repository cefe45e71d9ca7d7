"""What a Core ML model's description says of a function's inputs and outputs.

The ML program has their types; the description and the payload's metadata have their order, and
the description has the bounds of flexible axes (``FeatureTypes.proto``, ArrayFeatureType).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from pteron.engines.base import FunctionInfo, ValueInfo
from pteron.errors import UnsupportedError
from pteron.payloads.coreml.metadata import MethodNames
from pteron.payloads.coreml.package import CoreMLPackage
from pteron.payloads.coreml.proto.features_pb2 import ArrayFeatureType, ImageFeatureType, SizeRange
from pteron.payloads.coreml.proto.model_pb2 import (
    FeatureDescription,
    FunctionDescription,
    ModelDescription,
)

Bounds = tuple[tuple[int, int], ...]


@dataclass(frozen=True)
class Features:
    """Names in call order (empty where unknown), and bounds of flexible inputs by name."""

    inputs: tuple[str, ...]
    outputs: tuple[str, ...]
    bounds: Mapping[str, Bounds]


def function_names(package: CoreMLPackage) -> list[str]:
    """Functions of the package's program, the default one first."""
    default = package.model.description.defaultFunctionName or "main"
    return sorted(package.program.functions, key=lambda name: (name != default, name))


def features(package: CoreMLPackage, function: str) -> Features:
    """What is known of a function beyond its program."""
    described = _described(package.model.description, function)
    names = package.metadata.methods.get(function) or package.metadata.names
    if not names.inputs and not names.outputs:
        names = MethodNames(_names(described.input), _names(described.output))
    bounds = {f.name: _bounds(f) for f in described.input}
    return Features(names.inputs, names.outputs, {k: v for k, v in bounds.items() if v})


def _described(
    description: ModelDescription, function: str
) -> ModelDescription | FunctionDescription:
    return next((f for f in description.functions if f.name == function), description)


def _names(described: Iterable[FeatureDescription]) -> tuple[str, ...]:
    return tuple(feature.name for feature in described)


def _bounds(feature: FeatureDescription) -> Bounds:
    kind = feature.type.WhichOneof("Type")
    if kind == "multiArrayType":
        return _array_bounds(feature.type.multiArrayType)
    return _image_bounds(feature.type.imageType) if kind == "imageType" else ()


def _array_bounds(array: ArrayFeatureType) -> Bounds:
    if array.WhichOneof("ShapeFlexibility") == "shapeRange":
        return tuple(_size_range(sizes) for sizes in array.shapeRange.sizeRanges)
    if array.WhichOneof("ShapeFlexibility") == "enumeratedShapes":
        shapes = [tuple(shape.shape) for shape in array.enumeratedShapes.shapes]
        return tuple((min(sizes), max(sizes)) for sizes in zip(*shapes, strict=True))
    return ()


def _image_bounds(image: ImageFeatureType) -> Bounds:
    flexibility = image.WhichOneof("SizeFlexibility")
    if flexibility is None:
        return ()
    if flexibility == "imageSizeRange":
        height = _size_range(image.imageSizeRange.heightRange)
        width = _size_range(image.imageSizeRange.widthRange)
    else:
        heights = [size.height for size in image.enumeratedSizes.sizes]
        widths = [size.width for size in image.enumeratedSizes.sizes]
        height, width = (min(heights), max(heights)), (min(widths), max(widths))
    channels = 3 if image.colorSpace in (ImageFeatureType.RGB, ImageFeatureType.BGR) else 1
    return ((1, 1), (channels, channels), height, width)


def _size_range(sizes: SizeRange) -> tuple[int, int]:
    return (sizes.lowerBound, sizes.upperBound if sizes.upperBound > 0 else -1)


_DTYPES = {
    ArrayFeatureType.FLOAT16: "float16",
    ArrayFeatureType.FLOAT32: "float32",
    ArrayFeatureType.DOUBLE: "float64",
    ArrayFeatureType.INT8: "int8",
    ArrayFeatureType.INT32: "int32",
}


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
    package: CoreMLPackage, name: str, described: ModelDescription | FunctionDescription
) -> FunctionInfo:
    known = features(package, name)
    inputs = {f.name: _value_info(f) for f in described.input}
    outputs = {f.name: _value_info(f) for f in described.output}
    return FunctionInfo(
        name,
        tuple(inputs[n] for n in known.inputs),
        tuple(outputs[n] for n in known.outputs),
        tuple(_value_info(f) for f in described.state),
    )


def _value_info(feature: FeatureDescription) -> ValueInfo:
    kind = feature.type.WhichOneof("Type")
    is_state = kind == "stateType"
    array = feature.type.stateType.arrayType if is_state else feature.type.multiArrayType
    if (not is_state and kind != "multiArrayType") or array.dataType not in _DTYPES:
        raise UnsupportedError(f"feature '{feature.name}' is no array but {kind}")
    bounds = _array_bounds(array)
    sizes = bounds or tuple((size, size) for size in array.shape)
    shape = tuple(low if low == high else None for low, high in sizes)
    return ValueInfo(feature.name, _DTYPES[array.dataType], shape, bounds)
