"""Weights of a Core ML package, as the translator asks for them: in place, and checked."""

from __future__ import annotations

import math
from typing import Any

from numpy.typing import NDArray

from pteron.engines.openvino.types import TensorType
from pteron.errors import FormatError
from pteron.payloads.coreml.package import CoreMLPackage


class PackageWeights:
    """Blobs of a package's weight files."""

    def __init__(self, package: CoreMLPackage) -> None:
        self._package = package

    def blob(self, file_name: str, offset: int, type: TensorType) -> NDArray[Any]:
        """The blob at ``offset``, shaped; FormatError unless it holds what ``type`` says."""
        array = self._package.weights(file_name).read(offset)
        sizes = [size for size in type.shape if size is not None]
        if len(sizes) != len(type.shape) or array.size != math.prod(sizes):
            raise FormatError(f"a blob of {array.size} elements, where {type} was declared")
        if array.dtype != type.storage:
            raise FormatError(f"a blob of {array.dtype}, where {type} was declared")
        return array.reshape(sizes)
