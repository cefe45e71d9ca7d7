"""Between the features that coremltools' users give and get, and an engine's arrays."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.engines.base import ValueInfo
from pteron.engines.feature_types import image
from pteron.engines.images import is_image, to_image, to_pixels
from pteron.errors import UsageError
from pteron.payloads.coreml.proto.model_pb2 import FeatureDescription


def to_array(value: ValueInfo, data: Mapping[str, Any]) -> NDArray[Any]:
    """An input for the engine: an array, an image, or what stands for one that is left out."""
    given = data.get(value.name)
    if given is None:
        return _default(value)
    if is_image(given):
        if not value.image:
            raise UsageError(f"input '{value.name}' is an array, not an image")
        return to_pixels(given, value.image, value.dtype)
    array = _converted(value, given.detach() if hasattr(given, "detach") else given)
    return array.reshape(()) if not value.shape and array.size == 1 else array


def to_feature(feature: FeatureDescription | None, output: NDArray[Any]) -> Any:
    """An engine's output as Core ML hands it out: no rank 0, labels and images as themselves."""
    if output.dtype == object or output.dtype.kind == "U":
        return output.item()
    if feature is not None and (colour_space := image(feature)):
        return to_image(output, colour_space)
    kind = feature.type.WhichOneof("Type") if feature else None
    if kind in ("int64Type", "doubleType", "stringType"):
        return output.item()
    return output.reshape(1) if output.ndim == 0 else output


def _converted(value: ValueInfo, given: Any) -> NDArray[Any]:
    try:
        return np.asarray(given).astype(value.dtype, copy=False)
    except (TypeError, ValueError) as error:
        came = type(given).__name__
        message = f"input '{value.name}' must be {value}, not this {came}: {error}"
        raise UsageError(message) from None


def _default(value: ValueInfo) -> NDArray[Any]:
    if value.default is None:
        raise UsageError(f"input '{value.name}' is missing: it must be {value}")
    return np.full(value.default.shape, value.default.number, value.dtype)
