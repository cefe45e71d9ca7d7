"""Calls of one inference request.

OpenVINO's Python API takes inputs of any kind in one go. Its dispatch on their kinds and a tensor
made for each, at every call, take longer than a small model computes. So small inputs are copied
into memory of the request, and large ones are set one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from math import prod
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.engines.openvino._import import ov

Array = NDArray[np.generic]
_SMALL = 1 << 16  # bytes that are copied sooner than a tensor of them is made


class Inference:
    """Runs a request on arrays, whose dtypes and shapes are those of the model's leading inputs."""

    def __init__(self, model: Any, request: Any, inputs: int) -> None:
        self._request = request
        self._inputs = [
            request.get_input_tensor(index).data if _is_small(port) else None
            for index, port in enumerate(model.inputs[:inputs])
        ]
        self._outputs: list[Any] = [
            None if port.get_partial_shape().is_dynamic else request.get_output_tensor(index).data
            for index, port in enumerate(model.outputs)
        ]
        self._shared: list[Any] = []

    def __call__(self, arrays: Sequence[Array]) -> None:
        """Compute. Raises RuntimeError where OpenVINO does."""
        shared = []
        for index, (place, array) in enumerate(zip(self._inputs, arrays, strict=True)):
            if place is not None:
                place[...] = array
                continue
            tensor = ov.Tensor(_plain(array), shared_memory=True)
            self._request.set_input_tensor(index, tensor)
            shared.append(tensor)
        self._shared = shared  # the request has pointers to them, and does not keep them alive
        self._request.infer(share_outputs=True)

    def output(self, index: int) -> NDArray[Any]:
        """What the last call computed, in memory that the next one overwrites."""
        place = self._outputs[index]
        data: NDArray[Any] = self._request.get_output_tensor(index).data if place is None else place
        return data


def _is_small(port: Any) -> bool:
    if port.get_partial_shape().is_dynamic:
        return False
    return bool(prod(port.get_shape()) * port.get_element_type().size <= _SMALL)


def _plain(array: Array) -> Array:
    """The array, in memory that OpenVINO agrees to share: contiguous and writable."""
    flags = array.flags
    return array if flags.c_contiguous and flags.writeable else array.copy(order="C")
