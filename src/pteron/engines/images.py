"""Between Pillow's images and the arrays ``[1, channels, height, width]`` of a program."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def is_image(value: object) -> bool:
    """Whether it is a Pillow image; Pillow itself need not be there."""
    return hasattr(value, "getbands") and hasattr(value, "convert")


def to_pixels(image: Any, colour_space: str, dtype: str) -> NDArray[Any]:
    """A Pillow image of any mode as an array; scale and bias are the program's own affair."""
    if colour_space == "GRAYSCALE_FLOAT16":
        return np.asarray(image.convert("F")).astype(dtype)[None, None]
    if colour_space == "GRAYSCALE":
        return np.asarray(image.convert("L")).astype(dtype)[None, None]
    pixels = np.asarray(image.convert("RGB"))
    if colour_space == "BGR":
        pixels = pixels[..., ::-1]
    return np.ascontiguousarray(pixels.transpose(2, 0, 1)[None]).astype(dtype)


def to_image(array: NDArray[Any], colour_space: str) -> Any:
    """An array as a Pillow image, rounded to whole levels from 0 to 255 unless it is float."""
    from PIL import Image

    channels = array.reshape(array.shape[-3:])
    if colour_space == "GRAYSCALE_FLOAT16":
        return Image.fromarray(channels[0].astype(np.float32))
    pixels = np.clip(np.round(channels.astype(np.float32)), 0, 255).astype(np.uint8)
    if colour_space == "GRAYSCALE":
        return Image.fromarray(pixels[0])
    if colour_space == "BGR":
        pixels = pixels[::-1]
    return Image.fromarray(np.ascontiguousarray(pixels.transpose(1, 2, 0)))
