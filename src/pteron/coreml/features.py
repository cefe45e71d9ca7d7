"""Between what a model's description calls a feature and the arrays an engine computes with.

Source: ``FeatureTypes.proto``; images are ``[1, channels, height, width]`` inside a program.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.engines.base import ValueInfo
from pteron.errors import UsageError
from pteron.payloads.coreml.proto.features_pb2 import ArrayFeatureType, ImageFeatureType
from pteron.payloads.coreml.proto.model_pb2 import FeatureDescription

_GRAY = (ImageFeatureType.GRAYSCALE, ImageFeatureType.GRAYSCALE_FLOAT16)


def to_array(
    value: ValueInfo, feature: FeatureDescription | None, data: Mapping[str, Any]
) -> NDArray[Any]:
    """An input for the engine: an array, an image, or an optional input's default."""
    given = data.get(value.name)
    if given is None:
        return _default(value, feature)
    if hasattr(given, "getbands"):
        return _from_image(given, value, feature)
    array = np.asarray(given.detach() if hasattr(given, "detach") else given)
    array = array.astype(value.dtype, copy=False)
    return array.reshape(()) if not value.shape and array.size == 1 else array


def to_feature(feature: FeatureDescription | None, output: NDArray[Any]) -> Any:
    """An engine's output as Core ML hands it out: no rank 0, labels and images as themselves."""
    if output.dtype == object or output.dtype.kind == "U":
        return output.item()
    kind = feature.type.WhichOneof("Type") if feature else None
    if feature is not None and kind == "imageType":
        return _to_image(output, feature.type.imageType)
    if kind in ("int64Type", "doubleType", "stringType"):
        return output.item()
    return output.reshape(1) if output.ndim == 0 else output


def _default(value: ValueInfo, feature: FeatureDescription | None) -> NDArray[Any]:
    if feature is None or not feature.type.isOptional:
        raise UsageError(f"input '{value.name}' is missing")
    array = feature.type.multiArrayType
    kind = array.WhichOneof("defaultOptionalValue")
    return np.full(_default_shape(array), getattr(array, kind) if kind else 0, value.dtype)


def _default_shape(array: ArrayFeatureType) -> tuple[int, ...]:
    return tuple(array.shape)


def _from_image(image: Any, value: ValueInfo, feature: FeatureDescription | None) -> NDArray[Any]:
    if feature is None or feature.type.WhichOneof("Type") != "imageType":
        raise UsageError(f"input '{value.name}' is an array, not an image")
    pixels = np.asarray(image)
    if feature.type.imageType.colorSpace in _GRAY:
        return pixels.reshape(1, 1, *pixels.shape[:2]).astype(value.dtype)
    pixels = pixels[..., :3]
    if feature.type.imageType.colorSpace == ImageFeatureType.BGR:
        pixels = pixels[..., ::-1]
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None]).astype(value.dtype)


def _to_image(output: NDArray[Any], image: ImageFeatureType) -> Any:
    from PIL import Image

    channels = output.reshape(output.shape[-3:])
    if image.colorSpace == ImageFeatureType.GRAYSCALE_FLOAT16:
        return Image.fromarray(channels[0].astype(np.float32), "F")
    pixels = np.clip(np.round(channels.astype(np.float32)), 0, 255).astype(np.uint8)
    if image.colorSpace == ImageFeatureType.GRAYSCALE:
        return Image.fromarray(pixels[0], "L")
    if image.colorSpace == ImageFeatureType.BGR:
        pixels = pixels[::-1]
    return Image.fromarray(np.ascontiguousarray(pixels.transpose(1, 2, 0)), "RGB")
