"""A constant kept quantised: whole numbers of few bits, a scale per block, perhaps an offset.

OpenVINO keeps the weights of a matrix product that way where they come as ``Constant -> Convert
(-> Subtract) -> Multiply (-> Reshape)``; wherever else they are used they are written out.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.engines.openvino._import import opset, ov
from pteron.engines.openvino.graph import ints
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.shared import shared_constant
from pteron.payloads.packed import pack

Values = NDArray[np.generic]
_KEPT = {
    "int8": ov.Type.i8,
    "uint8": ov.Type.u8,
    "int4": ov.Type.i4,
    "uint4": ov.Type.u4,
}


@dataclass(eq=False, frozen=True)
class Quantised:
    """``scale * (data - offset)``, in the scale's dtype.

    Attributes:
        data: one int8 or uint8 per element.
        dtype: the element type it is stored as (``int4``).
        scale, offset: of the data's rank; each axis has one value, or one per block of elements.
    """

    data: Values
    dtype: str
    scale: Values
    offset: Values | None

    def expanded(self) -> Values:
        """The constant written out."""
        values: Any = self.data.astype(np.float32)
        if self.offset is not None:
            values -= spread(self.offset.astype(np.float32), self.data.shape)
        values *= spread(self.scale.astype(np.float32), self.data.shape)
        return np.asarray(values, self.scale.dtype)

    def kept(self) -> Any | None:
        """The constant as OpenVINO keeps it; None where it has no form for it."""
        shape = self.data.shape
        blocks = self.scale.shape
        if self.dtype not in _KEPT or len(shape) != 2 or blocks[0] not in (1, shape[0]):
            return None
        spread(self.scale, shape)  # an OpProblem where blocks do not divide the data
        grouped = (shape[0], blocks[1], shape[1] // blocks[1])
        inner = shape if blocks[1] == 1 else grouped
        kind = ov.Type.f16 if self.scale.dtype == np.float16 else ov.Type.f32
        values = opset.convert(self._packed(inner), kind)
        if self.offset is not None:
            values = opset.subtract(values, self._per_block(self.offset, inner))
        values = opset.multiply(values, self._per_block(self.scale, inner))
        return values if inner is shape else opset.reshape(values, ints(shape), False)

    def _packed(self, shape: tuple[int, ...]) -> Any:
        if self.dtype.endswith("8"):
            return shared_constant(self.data.reshape(shape))
        packed = np.frombuffer(pack(np.ascontiguousarray(self.data), 4), np.uint8).copy()
        tensor = ov.Tensor(packed, ov.Shape(list(shape)), _KEPT[self.dtype])
        return ov.op.Constant(tensor, shared_memory=False)  # it would not keep `packed` alive

    def _per_block(self, values: Values, shape: tuple[int, ...]) -> Any:
        blocks = (self.data.shape[0], self.scale.shape[1])
        even = np.broadcast_to(spread(values, blocks), blocks)
        array = even.astype(self.scale.dtype).reshape(*blocks, *[1] * (len(shape) - 2))
        return opset.constant(np.ascontiguousarray(array))


def spread(values: Values, shape: tuple[int, ...]) -> Values:
    """One value per block, repeated over the elements of its block; one stays one."""
    for axis, (blocks, size) in enumerate(zip(values.shape, shape, strict=True)):
        if not blocks or size % blocks:
            raise OpProblem(f"{blocks} blocks do not divide {size} elements of axis {axis}")
        if blocks > 1:
            values = np.repeat(values, size // blocks, axis=axis)
    return values
