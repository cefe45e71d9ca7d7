"""Resizing and resampling images (coremltools ``ops/defs/*/image_resizing.py``).

Every mode says at which points of the input grid the output samples; linear sampling is then a
product with two matrices of hat functions, and OpenVINO's Interpolate where it knows the mode.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import Flag, Floats, Int, IntList, Ints, Number, Numbers, Text
from pteron.engines.openvino.graph import (
    as_index,
    cast_like,
    i32,
    i64,
    ints,
    rank,
    shape_of,
    size,
    static_shape,
)
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.types import TensorType, check_memory, dtype_of
from pteron.engines.openvino.values import Output

_INTERPOLATE = {
    "STRICT_ALIGN_CORNERS": "align_corners",
    "ALIGN_CORNERS": "align_corners",
    "DEFAULT": "asymmetric",
    "UNALIGN_CORNERS": "half_pixel",
}


@mil_op(tested="NumPy")
def crop(x: Floats, crop_height: IntList, crop_width: IntList) -> Output:
    (top, bottom), (left, right) = crop_height, crop_width
    sizes = shape_of(x)
    height, width = (opset.gather(sizes, ints([axis]), i64(0)) for axis in (-2, -1))
    stop = opset.concat([opset.subtract(height, i32(bottom)), opset.subtract(width, i32(right))], 0)
    return opset.slice(x, i32([top, left]), stop, i32([1, 1]), ints([rank(x) - 2, rank(x) - 1]))


@mil_op(tested="PyTorch, TensorFlow's definition")
def resize_bilinear(
    x: Floats,
    target_size_height: Int = 1,
    target_size_width: Int = 1,
    sampling_mode: Text = "DEFAULT",
) -> Output:
    return _linear(x, [target_size_height, target_size_width], sampling_mode)


@mil_op(tested="TensorFlow's definition")
def resize_nearest_neighbor(x: Floats, target_size_height: Int, target_size_width: Int) -> Output:
    return _nearest(x, i32([target_size_height, target_size_width]), "DEFAULT")


@mil_op(tested="PyTorch")
def upsample_nearest_neighbor(
    x: Floats, scale_factor_height: Number = 1, scale_factor_width: Number = 1
) -> Output:
    sizes = _scaled_sizes(x, scale_factor_height, scale_factor_width)
    return _nearest(x, sizes, "DEFAULT")


@mil_op(tested="PyTorch")
def upsample_bilinear(
    x: Floats,
    scale_factor_height: Number = 1,
    scale_factor_width: Number = 1,
    align_corners: Flag = True,
) -> Output:
    sizes = _scaled_sizes(x, scale_factor_height, scale_factor_width)
    return _interpolate(x, sizes, "align_corners" if align_corners else "half_pixel")


@mil_op("upsample_bilinear", since=16, tested="PyTorch")
def upsample_bilinear_16(
    x: Floats,
    scale_factor_height: Number = 1,
    scale_factor_width: Number = 1,
    align_corners: Flag = True,
    half_pixel_centers: Flag | None = None,
) -> Output:
    centred = not align_corners if half_pixel_centers is None else half_pixel_centers
    if align_corners and centred:
        raise OpProblem("align_corners and half_pixel_centers exclude each other")
    mode = "align_corners" if align_corners else "half_pixel" if centred else "asymmetric"
    return _interpolate(x, _scaled_sizes(x, scale_factor_height, scale_factor_width), mode)


@mil_op(since=17, tested="NumPy")
def resize(
    x: Numbers,
    shape: Ints,
    resized_dims: Int,
    interpolation_mode: Text = "LINEAR",
    sampling_mode: Text = "DEFAULT",
) -> Output:
    if resized_dims > 2:
        raise OpProblem(f"resizing {resized_dims} axes is not supported")
    if not resized_dims:
        return x
    own = opset.slice(shape_of(x), i32([-resized_dims]), i32([2**31 - 1]), i32([1]))
    asked = opset.slice(as_index(shape), i32([-resized_dims]), i32([2**31 - 1]), i32([1]))
    sizes = opset.select(opset.equal(asked, i32(0)), own, asked).output(0)
    axes = list(range(rank(x) - resized_dims, rank(x)))
    if interpolation_mode == "NEAREST_NEIGHBOR":
        return _nearest(x, sizes, sampling_mode, axes, "round_prefer_ceil")
    if interpolation_mode != "LINEAR" or sampling_mode not in _INTERPOLATE:
        raise OpProblem(f"{interpolation_mode} with {sampling_mode} is not supported")
    return _interpolate(x, sizes, _INTERPOLATE[sampling_mode], axes)


@mil_op(tested="NumPy")
def crop_resize(
    x: Floats,
    roi: Floats,
    target_height: Int = 1,
    target_width: Int = 1,
    normalized_coordinates: Flag = False,
    spatial_scale: Number = 1.0,
    box_coordinate_mode: Text = "CORNERS_HEIGHT_FIRST",
    sampling_mode: Text = "DEFAULT",
    pad_value: Number = 0.0,
) -> Output:
    fields = size(roi, 2)
    flat = opset.reshape(roi, ints([-1, fields or 4]), False).output(0)
    sizes = (target_height, target_width)
    crops = _Crops(sizes, normalized_coordinates, spatial_scale, box_coordinate_mode)
    if fields == 5:
        first, boxes = opset.variadic_split(flat, i64(1), ints([1, 4])).outputs()
        indices = opset.convert(opset.reshape(first, ints([-1]), False), "i32")
        cut = crops.cut(opset.gather(x, indices, i64(0)), boxes, sampling_mode, pad_value)
        return opset.unsqueeze(cut, ints([1]))
    count, batch = _length(flat, 0), _length(x, 0)
    images = opset.tile(x, opset.concat([count, i32([1, 1, 1])], 0))
    repeats = opset.concat([i32([1]), batch, i32([1])], 0)
    every = opset.tile(opset.unsqueeze(flat, ints([1])), repeats)
    boxes = opset.reshape(every, ints([-1, 4]), False).output(0)
    cut = crops.cut(images, boxes, sampling_mode, pad_value)
    shape = opset.concat([count, batch, i32([-1, target_height, target_width])], 0)
    return opset.reshape(cut, shape, False)


@mil_op("crop_resize", since=17, tested="NumPy")
def crop_resize_17(
    x: Floats,
    boxes: Numbers,
    box_indices: Ints | None = None,
    target_height: Int = 1,
    target_width: Int = 1,
    normalized_coordinates: Flag = False,
    spatial_scale: Number = 1.0,
    box_coordinate_mode: Text = "CORNERS_HEIGHT_FIRST",
    sampling_mode: Text = "DEFAULT",
    pad_value: Number = 0.0,
) -> Output:
    if box_indices is None:
        box_indices = i32(list(range(static_shape(boxes)[0])))
    images = opset.gather(x, as_index(box_indices), i64(0))
    sizes = (target_height, target_width)
    crops = _Crops(sizes, normalized_coordinates, spatial_scale, box_coordinate_mode)
    return crops.cut(images, boxes, sampling_mode, pad_value)


class _Crops:
    """Boxes of images, one box per image, sampled at the points of a grid in each box."""

    def __init__(
        self, sizes: tuple[int, int], normalized: bool, scale: float, convention: str
    ) -> None:
        _check_grid(*sizes)
        self.sizes, self.normalized, self.scale = sizes, normalized, scale
        self.convention = convention

    def cut(self, images: Any, boxes: Output, mode: str, pad_value: float) -> Output:
        """``[boxes, channels, *sizes]``; points outside an image are ``pad_value``."""
        image = images.output(0) if hasattr(images, "output") else images
        result: Output = opset.convert(image, "f32")
        inside: Output | None = None
        for axis, (start, end) in enumerate(self._corners(boxes)):
            length = opset.gather(shape_of(image), i64(2 + axis), i64(0))
            last = opset.subtract(opset.convert(length, "f32"), _f32(1))
            factor = opset.multiply(last if self.normalized else _f32(1), _f32(self.scale))
            start, end = opset.multiply(start, factor), opset.multiply(end, factor)
            grid = _box_grid(start, end, self.sizes[axis], mode)  # [boxes, size]
            within = opset.logical_and(
                opset.greater_equal(grid, _f32(0)), opset.less_equal(grid, last)
            )
            hats = opset.unsqueeze(_hats(grid, length), ints([1]))  # [boxes, 1, size, length]
            if axis == 0:
                result = opset.matmul(hats, result, False, False)
                inside = opset.unsqueeze(opset.unsqueeze(within, ints([1])), ints([3]))
            else:
                result = opset.matmul(result, hats, False, True)
                across = opset.unsqueeze(opset.unsqueeze(within, ints([1])), ints([1]))
                inside = opset.logical_and(inside, across)
        padded = opset.select(inside, result, _f32(pad_value))
        return cast_like(image, padded.output(0))

    def _corners(self, boxes: Output) -> list[tuple[Output, Output]]:
        """(start, end) along height, then along width; each ``[boxes, 1]``."""
        a, b, c, d = opset.split(opset.convert(boxes, "f32"), i64(1), 4).outputs()
        if self.convention.endswith("WIDTH_FIRST"):
            a, b, c, d = b, a, d, c
        if self.convention.startswith("CORNERS"):
            return [(a, c), (b, d)]
        if not self.convention.startswith("CENTER_SIZE"):
            raise OpProblem(f"there is no box_coordinate_mode '{self.convention}'")
        return [_around(a, c), _around(b, d)]


@mil_op(tested="PyTorch")
def resample(
    x: Floats,
    coordinates: Numbers,
    sampling_mode: Text,
    padding_mode: Text,
    padding_value: Number,
    coordinates_mode: Text,
    align_corners: Flag,
) -> Output:
    last = _last_pixels(x)
    pixels = opset.convert(coordinates, "f32")
    if coordinates_mode == "normalized_zero_to_one":
        pixels = opset.subtract(opset.multiply(pixels, _f32(2)), _f32(1))
    if coordinates_mode != "unnormalized":
        half = opset.divide(opset.add(pixels, _f32(1)), _f32(2))
        reach = last if align_corners else opset.add(last, _f32(1))
        shift = _f32(0) if align_corners else _f32(0.5)
        pixels = opset.subtract(opset.multiply(half, reach), shift)
    return _sample(x, pixels, last, sampling_mode, padding_mode, padding_value)


@mil_op(tested="PyTorch")
def affine(
    x: Floats,
    transform_matrix: Floats,
    output_height: Int,
    output_width: Int,
    sampling_mode: Text,
    padding_mode: Text,
    padding_value: Number,
    coordinates_mode: Text,
    align_corners: Flag,
) -> Output:
    if padding_mode != "constant":
        raise OpProblem(f"padding_mode '{padding_mode}' is not supported")
    if coordinates_mode != "normalized_minus_one_to_one" or not align_corners:
        raise OpProblem("coordinates other than normalized, with aligned corners")
    _check_grid(output_height, output_width)
    rows, columns = np.meshgrid(
        np.linspace(-1, 1, output_height), np.linspace(-1, 1, output_width), indexing="ij"
    )
    points = np.stack([columns, rows, np.ones_like(rows)], -1).reshape(1, -1, 3)
    matrix = opset.reshape(opset.convert(transform_matrix, "f32"), ints([-1, 2, 3]), False)
    grid = opset.matmul(opset.constant(points.astype(np.float32)), matrix, False, True)
    shaped = opset.reshape(grid, ints([-1, output_height, output_width, 2]), False)
    sizes = opset.concat(
        [opset.gather(shape_of(x), ints([0]), i64(0)), i32([output_height, output_width, 2])], 0
    )
    everywhere = opset.broadcast(shaped, sizes, "BIDIRECTIONAL")
    last = _last_pixels(x)
    pixels = opset.multiply(opset.divide(opset.add(everywhere, _f32(1)), _f32(2)), last)
    return _sample(x, pixels, last, sampling_mode, padding_mode, padding_value)


def _sample(
    x: Output, pixels: Any, last: Any, sampling_mode: str, padding_mode: str, value: float
) -> Output:
    """Sample at pixel coordinates ``[batch, height, width, (x, y)]``.

    As PyTorch does, coordinates are reflected before they are rounded (halves to even); GridSample
    rounds them first, which is another pixel where a reflected coordinate lies between two.
    """
    if sampling_mode not in ("bilinear", "nearest"):
        raise OpProblem(f"there is no sampling_mode '{sampling_mode}'")
    if padding_mode in ("reflection", "symmetric"):
        pixels = _reflected(pixels, last, edges=padding_mode == "symmetric")
    if sampling_mode == "nearest":
        pixels = opset.round(pixels, "half_to_even")
    size = opset.add(last, _f32(1))
    doubled = opset.add(opset.multiply(pixels, _f32(2)), _f32(1))
    grid = opset.subtract(opset.divide(doubled, size), _f32(1))
    shift = value if padding_mode == "constant" else 0.0
    moved = opset.subtract(opset.convert(x, "f32"), _f32(shift))
    padding = "zeros" if padding_mode == "constant" else "border"
    attributes = {"align_corners": False, "mode": sampling_mode, "padding_mode": padding}
    sampled = opset.add(opset.grid_sample(moved, grid, attributes), _f32(shift))
    return cast_like(x, sampled.output(0))


def _reflected(pixels: Any, last: Any, edges: bool) -> Any:
    """Coordinates folded into the image about the edges of its border pixels or their centres."""
    low = _f32(-0.5 if edges else 0)
    span = opset.add(last, _f32(1)) if edges else opset.maximum(last, _f32(1))
    there_and_back = opset.multiply(span, _f32(2))
    travelled = opset.floor_mod(opset.abs(opset.subtract(pixels, low)), there_and_back)
    folded = opset.minimum(travelled, opset.subtract(there_and_back, travelled))
    return opset.add(folded, low)


def _last_pixels(x: Output) -> Output:
    """``(width - 1, height - 1)`` as floats."""
    sizes = opset.gather(shape_of(x), ints([3, 2]), i64(0))
    return opset.subtract(opset.convert(sizes, "f32"), _f32(1))


def _linear(x: Output, sizes: list[int], mode: str) -> Output:
    _check_grid(*sizes)
    single = mode == "ALIGN_CORNERS" and 1 in sizes
    if mode in _INTERPOLATE and not single:
        return _interpolate(x, i32(sizes), _INTERPOLATE[mode])
    result = opset.convert(x, "f32")
    for axis, count in zip((-2, -1), sizes, strict=True):
        length = opset.gather(shape_of(x), i64(axis), i64(0))
        last = opset.subtract(opset.convert(length, "f32"), _f32(1))
        grid = _box_grid(_f32([[0]]), opset.reshape(last, ints([1, 1]), False), count, mode)
        hats = opset.squeeze(_hats(grid, length), ints([0]))
        if axis == -2:
            result = opset.matmul(hats, result, False, False)
        else:
            result = opset.matmul(result, hats, False, True)
    return cast_like(x, result.output(0))


def _interpolate(x: Output, sizes: Any, mode: str, axes: list[int] | None = None) -> Output:
    where = axes or [rank(x) - 2, rank(x) - 1]
    if not dtype_of(x).startswith("float"):
        linear = _interpolate(opset.convert(x, "f32").output(0), sizes, mode, axes)
        return opset.convert(linear, x.get_element_type())
    return opset.interpolate(
        x,
        sizes,
        "linear_onnx" if rank(x) == 4 and len(where) == 2 else "linear",
        "sizes",
        coordinate_transformation_mode=mode,
        axes=ints(where),
    )


def _nearest(
    x: Output, sizes: Any, mode: str, axes: list[int] | None = None, rounding: str = "floor"
) -> Output:
    if mode not in _INTERPOLATE:
        raise OpProblem(f"NEAREST_NEIGHBOR with {mode} is not supported")
    return opset.interpolate(
        x,
        sizes,
        "nearest",
        "sizes",
        coordinate_transformation_mode=_INTERPOLATE[mode],
        nearest_mode=rounding,
        axes=ints(axes or [rank(x) - 2, rank(x) - 1]),
    )


def _scaled_sizes(x: Output, height: float, width: float) -> Output:
    sizes = opset.slice(shape_of(x), i32([-2]), i32([2**31 - 1]), i32([1]))
    exact = opset.multiply(opset.convert(sizes, "f32"), _f32([height, width]))
    # A factor such as 1.9 is not exact in binary: what is a hair below a whole number is meant so.
    return opset.convert(opset.floor(opset.add(exact, _f32(1e-4))), "i32")


def _check_grid(height: int, width: int) -> None:
    """An OpProblem for a target so large that writing down its points is too much."""
    check_memory(TensorType("float64", (3, height, width)), share=4)


def _box_grid(start: Any, end: Any, count: int, mode: str) -> Any:
    """Where a mode samples ``[start, end]``: ``[boxes, count]`` (``resize_bilinear``'s notes)."""
    steps = _f32(np.arange(count)[None])
    span = opset.subtract(end, start)
    size = opset.add(span, _f32(1))
    if mode == "ALIGN_CORNERS" and count == 1:
        points = opset.add(start, opset.divide(span, _f32(2)))
    elif mode in ("STRICT_ALIGN_CORNERS", "ALIGN_CORNERS"):
        spacing = opset.divide(span, _f32(max(count - 1, 1)))
        points = opset.add(start, opset.multiply(steps, spacing))
    elif mode == "DEFAULT":
        points = opset.add(start, opset.multiply(steps, opset.divide(size, _f32(count))))
    elif mode == "OFFSET_CORNERS":
        delta = opset.divide(opset.maximum(span, _f32(1)), _f32(count))
        points = opset.add(start, opset.multiply(opset.add(steps, _f32(0.5)), delta))
    elif mode == "UNALIGN_CORNERS":
        spacing = opset.divide(size, _f32(count))
        centres = opset.multiply(opset.add(steps, _f32(0.5)), spacing)
        points = opset.add(start, opset.subtract(centres, _f32(0.5)))
    else:
        raise OpProblem(f"there is no sampling_mode '{mode}'")
    low, high = opset.minimum(start, end), opset.maximum(start, end)
    return opset.minimum(opset.maximum(points, low), high)


def _hats(grid: Any, length: Any) -> Any:
    """Weights of ``length`` pixels at each point: ``[boxes, count]`` -> ``[..., length]``."""
    pixels = opset.range(_f32(0), opset.convert(length, "f32"), _f32(1), "f32")
    distance = opset.abs(opset.subtract(opset.unsqueeze(grid, ints([-1])), pixels))
    return opset.maximum(opset.subtract(_f32(1), distance), _f32(0))


def _length(x: Output, axis: int) -> Any:
    """Size of an axis, as a vector of one."""
    return opset.gather(shape_of(x), ints([axis]), i64(0))


def _around(centre: Output, size: Output) -> tuple[Output, Output]:
    half = opset.multiply(size, _f32(0.5))
    return opset.subtract(centre, half), opset.add(centre, half)


def _f32(value: Any) -> Any:
    return opset.constant(np.array(value, dtype=np.float32))
