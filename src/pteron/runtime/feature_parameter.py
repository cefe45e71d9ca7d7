"""Inputs of a Core ML model: optional ones, listed shapes and images among them."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import prod

import numpy as np

from pteron.engines.base import ValueInfo
from pteron.engines.images import is_image, to_pixels
from pteron.errors import UsageError
from pteron.runtime.arrays import Array
from pteron.runtime.signature import UNBOUNDED, Parameter


@dataclass(frozen=True)
class FeatureParameter(Parameter):
    """A parameter that takes what the model's description allows: :attr:`info`."""

    info: ValueInfo = field(kw_only=True)

    @classmethod
    def of(cls, info: ValueInfo) -> FeatureParameter:
        """The parameter that stands for an engine's input or output."""
        ranges = info.range or tuple((n or 0, UNBOUNDED if n is None else n) for n in info.shape)
        highest = tuple(high if high >= 0 else UNBOUNDED for _, high in ranges)
        lowest = tuple(low for low, _ in ranges)
        return cls(info.name, np.dtype(info.dtype), highest, lowest, info=info)

    def __str__(self) -> str:
        return f"{self.name}: {self.info}"

    def accepts(self, shape: tuple[int, ...]) -> bool:
        return self.info.accepts(shape)

    def left_out(self) -> Array | None:
        default = self.info.default
        return None if default is None else np.full(default.shape, default.number, self.dtype)

    def largest(self) -> tuple[int, ...]:
        if self.info.shapes:
            return max(self.info.shapes, key=prod)
        return super().largest()

    def read(self, value: object, where: str) -> Array:
        if is_image(value) and self.info.image:
            return to_pixels(value, self.info.image, self.info.dtype)
        if is_image(value):
            raise UsageError(f"{where}: input '{self.name}': expected {self.info}, got an image")
        array = super().read(value, where)
        if self.info.image and array.dtype == np.uint8:  # what pixels are elsewhere
            return array.astype(self.info.dtype)
        return array
