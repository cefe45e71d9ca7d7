"""Constants of an OpenVINO graph that lie where they are: in a mapped file, or NumPy's memory."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.engines.openvino._import import opset, ov


@dataclass(eq=False)
class _Memory:
    """Lets NumPy see read-only memory as writable, which OpenVINO demands and never uses."""

    array: NDArray[Any]
    __array_interface__: dict[str, Any] = field(init=False)

    def __post_init__(self) -> None:
        interface = dict(self.array.__array_interface__)
        interface["data"] = (interface["data"][0], False)
        self.__array_interface__ = interface


def shared_constant(array: NDArray[Any]) -> Any:
    """An OpenVINO constant over the array's own memory, which it keeps alive."""
    array = np.ascontiguousarray(array).reshape(array.shape)
    if array.size == 0:
        return opset.constant(array)
    return ov.op.Constant(np.asarray(_Memory(array)), shared_memory=True)
