"""What a description says of inputs, held to by ``pteron.load`` and ``predict`` alike."""

from __future__ import annotations

from pathlib import Path

import coremltools as ct
import numpy as np
import pytest
import torch
from PIL import Image
from torch import nn

import pteron
from pteron.coreml import disable_predict, enable_predict
from pteron.errors import UsageError


@pytest.fixture(autouse=True)
def predicting():
    enable_predict()
    yield
    disable_predict()


def convert(module: nn.Module, example: tuple, inputs: list, **options):
    traced = torch.jit.trace(module.eval(), example)
    return ct.convert(
        traced,
        inputs=inputs,
        outputs=options.pop("outputs", [ct.TensorType(name="y", dtype=np.float32)]),
        skip_model_load=True,
        minimum_deployment_target=ct.target.iOS17,
        **options,
    )


def loaded(model, directory: Path) -> pteron.Module:
    model.save(str(directory / "model.mlpackage"))
    return pteron.load(directory / "model.mlpackage", cache=None)


class Sum(nn.Module):
    def forward(self, x: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return x * 2 + bias


class Negative(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return 255 - x


@pytest.mark.parametrize("default", [None, 3.0])
def test_an_optional_input_may_be_left_out(default, tmp_path: Path) -> None:
    value = None if default is None else np.full((1, 4), default, np.float32)
    inputs = [
        ct.TensorType(name="x", shape=(1, 4), dtype=np.float32),
        ct.TensorType(name="bias", shape=(1, 4), dtype=np.float32, default_value=value),
    ]
    model = convert(Sum(), (torch.zeros(1, 4), torch.zeros(1, 4)), inputs)
    x = np.float32([[1, 2, 3, 4]])
    method = loaded(model, tmp_path).methods["main"]
    if default is None:
        with pytest.raises(UsageError, match="'bias' is missing"):
            method(x)
        return
    np.testing.assert_array_equal(method(x)[0], 2 * x + default)
    np.testing.assert_array_equal(model.predict({"x": x})["y"], 2 * x + default)
    np.testing.assert_array_equal(method(x, bias=x)[0], 3 * x)


def test_listed_shapes_are_the_only_ones(tmp_path: Path) -> None:
    shapes = ct.EnumeratedShapes(shapes=[(1, 3, 8, 8), (1, 3, 16, 12)], default=(1, 3, 8, 8))
    inputs = [ct.TensorType(name="x", shape=shapes, dtype=np.float32)]
    model = convert(nn.Conv2d(3, 2, 3, padding=1), (torch.zeros(1, 3, 8, 8),), inputs)
    method = loaded(model, tmp_path).methods["main"]
    for height, width in ((8, 8), (16, 12)):
        assert method(np.zeros((1, 3, height, width), np.float32))[0].shape[2:] == (height, width)
    assert method.inputs[0].largest() == (1, 3, 16, 12)
    for height, width in ((8, 12), (12, 10), (16, 8), (32, 32)):
        with pytest.raises(UsageError, match=r"\[1, 3, 8, 8\] or \[1, 3, 16, 12\]"):
            method(np.zeros((1, 3, height, width), np.float32))
        with pytest.raises(UsageError, match=r"\[1, 3, 8, 8\] or \[1, 3, 16, 12\]"):
            model.predict({"x": np.zeros((1, 3, height, width), np.float32)})


@pytest.mark.parametrize("layout", ["RGB", "BGR", "GRAYSCALE", "GRAYSCALE_FLOAT16"])
def test_images_in_and_out(layout, tmp_path: Path) -> None:
    count = 3 if layout in ("RGB", "BGR") else 1
    colours = getattr(ct.colorlayout, layout)
    model = convert(
        Negative(),
        (torch.zeros(1, count, 5, 7),),
        [ct.ImageType(name="x", shape=(1, count, 5, 7), color_layout=colours)],
        outputs=[ct.ImageType(name="y", color_layout=colours)],
    )
    pixels = np.random.default_rng(5).integers(0, 256, (5, 7, 3) if count == 3 else (5, 7))
    picture = Image.fromarray(pixels.astype(np.uint8))
    if layout == "GRAYSCALE_FLOAT16":
        picture = Image.fromarray(pixels.astype(np.float32))
    answer = model.predict({"x": picture})["y"]
    assert isinstance(answer, Image.Image)
    np.testing.assert_array_equal(np.asarray(answer), 255 - pixels)

    method = loaded(model, tmp_path).methods["main"]
    (out,) = method(picture)
    channels = pixels.transpose(2, 0, 1) if count == 3 else pixels[None]
    channels = channels[::-1] if layout == "BGR" else channels
    np.testing.assert_array_equal(out[0], 255 - channels)
    with pytest.raises(UsageError, match=r"\[1, ., 5, 7\].*\[1, ., 7, 5\]"):
        method(picture.transpose(Image.Transpose.ROTATE_90))
    np.testing.assert_array_equal(method(channels[None].astype(np.uint8))[0], out)
    with pytest.raises(UsageError, match=f"{layout} image float.*got int32"):
        method(channels[None].astype(np.int32))


def test_an_array_input_takes_no_image(tmp_path: Path) -> None:
    inputs = [ct.TensorType(name="x", shape=(1, 3, 5, 7), dtype=np.float32)]
    model = convert(Negative(), (torch.zeros(1, 3, 5, 7),), inputs)
    picture = Image.new("RGB", (7, 5))
    with pytest.raises(UsageError, match="got an image"):
        loaded(model, tmp_path).methods["main"](picture)
    with pytest.raises(UsageError, match="not an image"):
        model.predict({"x": picture})


def test_a_single_number_goes_in_and_comes_out(tmp_path: Path) -> None:
    """Core ML has no rank 0 at its border: coremltools makes such inputs shape (1,)."""
    inputs = [ct.TensorType(name="x", shape=(1,), dtype=np.float32)]
    model = convert(Negative(), (torch.zeros(1),), inputs)
    assert loaded(model, tmp_path).methods["main"](np.float32([5]))[0].tolist() == [250]
    assert model.predict({"x": np.float32([5])})["y"].tolist() == [250]


class Doubled(nn.Module):
    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x * 2 - 3


def test_int8_goes_in_and_comes_out(tmp_path: Path) -> None:
    """What coremltools' iOS 26 target adds."""
    model = ct.convert(
        torch.jit.trace(Doubled(), (torch.zeros(1, 4),)),
        inputs=[ct.TensorType(name="x", shape=(1, 4), dtype=np.int8)],
        outputs=[ct.TensorType(name="y", dtype=np.int8)],
        skip_model_load=True,
        minimum_deployment_target=ct.target.iOS26,
    )
    method = loaded(model, tmp_path).methods["main"]
    assert [str(value) for value in method.inputs] == ["x: int8[1, 4]"]
    (y,) = method(np.int8([[-60, -1, 0, 60]]))
    assert y.dtype == np.int8
    assert y.tolist() == [[-123, -5, -3, 117]]
