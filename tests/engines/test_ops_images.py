"""Resizing and resampling against torch and against the definitions in coremltools, in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from tests.engines.oneop import check

RNG = np.random.default_rng(8)
MODES = ["STRICT_ALIGN_CORNERS", "ALIGN_CORNERS", "DEFAULT", "OFFSET_CORNERS", "UNALIGN_CORNERS"]


def random(*shape):
    return RNG.uniform(-1, 1, shape).astype(np.float32)


def grid(start: float, end: float, count: int, mode: str) -> np.ndarray:
    """Points at which a mode samples the pixels ``start`` to ``end``."""
    size, i = end - start + 1, np.arange(count)
    if mode == "ALIGN_CORNERS" and count == 1:
        points = np.array([start + (end - start) / 2])
    elif mode.endswith("ALIGN_CORNERS") and mode != "UNALIGN_CORNERS":
        points = start + i * (end - start) / max(count - 1, 1)
    elif mode == "DEFAULT":
        points = start + i * size / count
    elif mode == "OFFSET_CORNERS":
        points = start + (i + 0.5) * max(1, end - start) / count
    else:
        points = start + (i + 0.5) * size / count - 0.5
    return np.clip(points, min(start, end), max(start, end))


def linear(x: np.ndarray, points: np.ndarray, axis: int) -> np.ndarray:
    low = np.clip(np.floor(points).astype(int), 0, x.shape[axis] - 1)
    high = np.minimum(low + 1, x.shape[axis] - 1)
    shape = [1] * x.ndim
    shape[axis] = -1
    part = (points - low).reshape(shape)
    return np.take(x, low, axis) * (1 - part) + np.take(x, high, axis) * part


@pytest.mark.parametrize("size", [(5, 6), (2, 3), (1, 7), (8, 1)])
@pytest.mark.parametrize("mode", MODES)
def test_resize_bilinear(mode, size) -> None:
    x = random(1, 2, 4, 3)
    expected = linear(x, grid(0, 3, size[0], mode), 2)
    expected = linear(expected, grid(0, 2, size[1], mode), 3).astype(np.float32)
    constants = {
        "target_size_height": size[0],
        "target_size_width": size[1],
        "sampling_mode": mode,
    }
    check("resize_bilinear", {"x": x}, constants, expected)
    if mode not in ("OFFSET_CORNERS",) and 1 not in size:
        constants = {"shape": [1, 2, *size], "resized_dims": 2, "sampling_mode": mode}
        check("resize", {"x": x}, constants, expected)


@pytest.mark.parametrize("rank", [3, 4, 5])
def test_upsampling(rank) -> None:
    x = random(*[1, 2, 2][5 - rank :], 3, 4)
    t = torch.from_numpy(x.reshape(1, -1, 3, 4))

    def as_x(y):
        return y.numpy().reshape(*x.shape[:-2], *y.shape[-2:])

    constants = {"scale_factor_height": 2, "scale_factor_width": 3}
    expected = as_x(functional.interpolate(t, scale_factor=(2, 3), mode="nearest"))
    check("upsample_nearest_neighbor", {"x": x}, constants, expected)
    for aligned in (True, False):
        for height, width in ((2, 3), (1.5, 2.25)):
            y = functional.interpolate(
                t,
                scale_factor=(height, width),
                mode="bilinear",
                align_corners=aligned,
                recompute_scale_factor=True,
            )
            constants = {
                "scale_factor_height": height,
                "scale_factor_width": width,
                "align_corners": aligned,
            }
            check("upsample_bilinear", {"x": x}, constants, as_x(y))
            check("upsample_bilinear", {"x": x}, constants, as_x(y), opset=15)


def test_resize_nearest_neighbour_takes_the_pixel_at_or_before() -> None:
    x = random(1, 2, 4, 3)
    rows, columns = (np.arange(7) * 4 // 7), (np.arange(5) * 3 // 5)
    constants = {"target_size_height": 7, "target_size_width": 5}
    check("resize_nearest_neighbor", {"x": x}, constants, x[:, :, rows][..., columns])


def test_crop() -> None:
    x = random(1, 2, 6, 5)
    constants = {"crop_height": [1, 2], "crop_width": [2, 0]}
    check("crop", {"x": x}, constants, x[:, :, 1:4, 2:])


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("normalized", [False, True])
@pytest.mark.parametrize(
    "convention",
    [
        "CORNERS_HEIGHT_FIRST",
        "CORNERS_WIDTH_FIRST",
        "CENTER_SIZE_HEIGHT_FIRST",
        "CENTER_SIZE_WIDTH_FIRST",
    ],
)
def test_crop_resize(convention, normalized, mode) -> None:
    x = random(2, 3, 6, 5)
    corners = np.array([[0.5, 1, 4.25, 3], [1, 0, 3, 4]], np.float32)  # h0 w0 h1 w1
    indices = [1, 0]
    crops = []
    for (h0, w0, h1, w1), index in zip(corners, indices, strict=True):
        part = linear(x[index], grid(h0, h1, 4, mode), 1)
        crops.append(linear(part, grid(w0, w1, 3, mode), 2))
    expected = np.stack(crops).astype(np.float32)
    boxes = corners / np.float32([5, 4, 5, 4]) if normalized else corners
    if convention.startswith("CENTER"):
        boxes = np.concatenate([(boxes[:, :2] + boxes[:, 2:]) / 2, boxes[:, 2:] - boxes[:, :2]], 1)
    if convention.endswith("WIDTH_FIRST"):
        boxes = boxes[:, [1, 0, 3, 2]]
    constants = {
        "target_height": 4,
        "target_width": 3,
        "normalized_coordinates": normalized,
        "box_coordinate_mode": convention,
        "sampling_mode": mode,
    }
    tensors = {"x": x, "boxes": boxes, "box_indices": np.int32(indices)}
    check("crop_resize", tensors, constants, expected, tolerance=1e-4)
    roi = np.concatenate([np.float32(indices)[:, None], boxes], 1).reshape(2, 1, 5, 1, 1)
    check("crop_resize", {"x": x, "roi": roi}, constants, expected[:, None], 16, tolerance=1e-4)


PADDING = {"constant": "zeros", "border": "border", "reflection": "reflection"}


@pytest.mark.parametrize("sampling", ["bilinear", "nearest"])
@pytest.mark.parametrize("aligned", [True, False])
@pytest.mark.parametrize("padding", [*PADDING, "symmetric"])
def test_resample(padding, aligned, sampling) -> None:
    x, points = random(2, 3, 5, 4), RNG.uniform(-1.6, 1.6, (2, 6, 7, 2)).astype(np.float32)
    # torch reflects about pixel centres when corners are aligned, else about pixel edges.
    if padding in ("reflection", "symmetric") and aligned != (padding == "reflection"):
        return
    expected = functional.grid_sample(
        torch.from_numpy(x),
        torch.from_numpy(points),
        sampling,
        PADDING.get(padding, "reflection"),
        aligned,
    ).numpy()
    constants = {
        "sampling_mode": sampling,
        "padding_mode": padding,
        "padding_value": 0.0,
        "coordinates_mode": "normalized_minus_one_to_one",
        "align_corners": aligned,
    }
    check("resample", {"x": x, "coordinates": points}, constants, expected, tolerance=1e-4)
    constants["coordinates_mode"] = "normalized_zero_to_one"
    tensors = {"x": x, "coordinates": (points + 1) / 2}
    check("resample", tensors, constants, expected, tolerance=1e-4)


def test_resample_at_pixels_pads_with_a_value() -> None:
    x = random(1, 1, 3, 4)
    points = np.array([[[[0, 0], [3, 2], [1.5, 1], [9, 9]]]], np.float32)
    expected = np.array([[[[x[0, 0, 0, 0], x[0, 0, 2, 3], x[0, 0, 1, 1:3].mean(), 2.5]]]])
    constants = {
        "sampling_mode": "bilinear",
        "padding_mode": "constant",
        "padding_value": 2.5,
        "coordinates_mode": "unnormalized",
        "align_corners": True,
    }
    tensors = {"x": x, "coordinates": points}
    check("resample", tensors, constants, expected.astype(np.float32))


def test_resample_of_one_pixel_pads_around_it() -> None:
    points = np.array([[[[0, 0], [2, 0], [0, -2]]]], np.float32)
    constants = {
        "sampling_mode": "bilinear",
        "padding_mode": "constant",
        "padding_value": 2.5,
        "coordinates_mode": "unnormalized",
        "align_corners": True,
    }
    tensors = {"x": np.float32([[[[7]]]]), "coordinates": points}
    check("resample", tensors, constants, np.float32([[[[7, 2.5, 2.5]]]]))


@pytest.mark.parametrize("padding", ["constant", "border", "reflection", "symmetric"])
def test_resample_halfway_between_pixels_takes_the_even_one(padding) -> None:
    aligned = padding == "reflection"  # torch then reflects about pixel centres
    width, height = size = np.array([5, 3] if aligned else [4, 2])  # normalised without rounding
    x = random(1, 2, height, width)
    across, down = np.meshgrid(np.arange(-6.5, 10), np.arange(-6.5, 10))
    pixels = np.stack([across, down], -1)
    points = 2 * pixels / (size - 1) - 1 if aligned else (2 * pixels + 1) / size - 1
    expected = functional.grid_sample(
        torch.from_numpy(x).double(),
        torch.from_numpy(points[None]),
        "nearest",
        PADDING.get(padding, "reflection"),
        aligned,
    )
    constants = {
        "sampling_mode": "nearest",
        "padding_mode": padding,
        "padding_value": 0.0,
        "coordinates_mode": "unnormalized",
        "align_corners": False,
    }
    tensors = {"x": x, "coordinates": pixels[None].astype(np.float32)}
    check("resample", tensors, constants, expected.float().numpy())


@pytest.mark.parametrize("matrices", [1, 2])
def test_affine(matrices) -> None:
    x, theta = random(2, 3, 5, 4), random(matrices, 6)
    per_image = np.broadcast_to(theta.reshape(-1, 2, 3), (2, 2, 3)).copy()
    points = functional.affine_grid(torch.from_numpy(per_image), (2, 3, 6, 7), align_corners=True)
    expected = functional.grid_sample(torch.from_numpy(x), points, align_corners=True).numpy()
    constants = {
        "output_height": 6,
        "output_width": 7,
        "sampling_mode": "bilinear",
        "padding_mode": "constant",
        "padding_value": 0.0,
        "coordinates_mode": "normalized_minus_one_to_one",
        "align_corners": True,
    }
    check("affine", {"x": x, "transform_matrix": theta}, constants, expected, tolerance=1e-4)
