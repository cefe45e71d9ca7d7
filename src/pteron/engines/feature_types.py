"""What ``FeatureTypes.proto`` says of one input or output beyond its type in the program.

An image is ``[1, channels, height, width]`` inside a program.
"""

from __future__ import annotations

from pteron.engines.base import Default, ValueInfo
from pteron.payloads.coreml.proto.features_pb2 import ArrayFeatureType, ImageFeatureType, SizeRange
from pteron.payloads.coreml.proto.model_pb2 import FeatureDescription

Bounds = tuple[tuple[int, int], ...]
Shapes = tuple[tuple[int, ...], ...]


def described(
    name: str, dtype: str, shape: tuple[int | None, ...], feature: FeatureDescription | None
) -> ValueInfo:
    """A value of the program with what its description adds, if there is one."""
    if feature is None:
        return ValueInfo(name, dtype, shape)
    return ValueInfo(
        name, dtype, shape, bounds(feature), shapes(feature), default(feature), image(feature)
    )


def bounds(feature: FeatureDescription) -> Bounds:
    """Smallest and largest size (-1: unbounded) per axis; empty where nothing is flexible."""
    if listed := shapes(feature):
        return tuple((min(sizes), max(sizes)) for sizes in zip(*listed, strict=True))
    array, picture = feature.type.multiArrayType, feature.type.imageType
    if array.WhichOneof("ShapeFlexibility") == "shapeRange":
        return tuple(_size_range(sizes) for sizes in array.shapeRange.sizeRanges)
    if picture.WhichOneof("SizeFlexibility") == "imageSizeRange":
        sizes = picture.imageSizeRange
        count = _channels(picture)
        height, width = _size_range(sizes.heightRange), _size_range(sizes.widthRange)
        return ((1, 1), (count, count), height, width)
    return ()


def shapes(feature: FeatureDescription) -> Shapes:
    """The only shapes allowed, where the description lists them."""
    array, picture = feature.type.multiArrayType, feature.type.imageType
    if array.WhichOneof("ShapeFlexibility") == "enumeratedShapes":
        return tuple(tuple(shape.shape) for shape in array.enumeratedShapes.shapes)
    if picture.WhichOneof("SizeFlexibility") == "enumeratedSizes":
        count = _channels(picture)
        return tuple((1, count, s.height, s.width) for s in picture.enumeratedSizes.sizes)
    return ()


def default(feature: FeatureDescription) -> Default | None:
    """What an input is when it is left out; None for one that must be given."""
    if not feature.type.isOptional or feature.type.WhichOneof("Type") != "multiArrayType":
        return None
    array = feature.type.multiArrayType
    kind = array.WhichOneof("defaultOptionalValue")
    return Default(getattr(array, kind) if kind else 0, tuple(array.shape))


def image(feature: FeatureDescription) -> str:
    """Colour space of an image; empty for anything else."""
    if feature.type.WhichOneof("Type") != "imageType":
        return ""
    return ImageFeatureType.ColorSpace.Name(feature.type.imageType.colorSpace)


ARRAY_DTYPES: dict[int, str] = {
    ArrayFeatureType.FLOAT16: "float16",
    ArrayFeatureType.FLOAT32: "float32",
    ArrayFeatureType.DOUBLE: "float64",
    ArrayFeatureType.INT8: "int8",
    ArrayFeatureType.INT32: "int32",
}


def _channels(picture: ImageFeatureType) -> int:
    return 3 if picture.colorSpace in (ImageFeatureType.RGB, ImageFeatureType.BGR) else 1


def _size_range(sizes: SizeRange) -> tuple[int, int]:
    return (sizes.lowerBound, sizes.upperBound if sizes.upperBound > 0 else -1)
