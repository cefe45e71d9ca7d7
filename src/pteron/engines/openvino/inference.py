"""One call of an inference request.

OpenVINO's Python API takes inputs of any kind in one go. Its dispatch on their kinds, at every
call, takes as long as a small model computes; so inputs are set one by one, as tensors.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.engines.openvino._import import ov


def infer(request: Any, inputs: Sequence[NDArray[np.generic]]) -> list[Any]:
    """Run a request on its leading inputs; raises RuntimeError where OpenVINO does.

    Returns the tensors that the request keeps pointers to, without keeping them alive: the caller
    holds on to them until its next call.
    """
    tensors = [ov.Tensor(_plain(array), shared_memory=True) for array in inputs]
    for index, tensor in enumerate(tensors):
        request.set_input_tensor(index, tensor)
    request.infer(share_outputs=True)
    return tensors


def _plain(array: NDArray[np.generic]) -> NDArray[np.generic]:
    """The array, in memory that OpenVINO agrees to share: contiguous and writable."""
    flags = array.flags
    return array if flags.c_contiguous and flags.writeable else array.copy(order="C")
