"""Making, joining and reshaping tensors against NumPy and torch."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from tests.engines.oneop import check, run

RNG = np.random.default_rng(6)
DTYPES = ["float16", "float32", "int32", "bool", "uint8"]


def numbers(*shape, dtype="float32"):
    return RNG.integers(0, 9, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_reshaping(dtype) -> None:
    x = numbers(2, 1, 3, 4, dtype=dtype)
    check("reshape", {"x": x}, {"shape": [6, -1]}, x.reshape(6, 4))
    check("reshape", {"x": x}, {"shape": [0, 3, -1, 2]}, x.reshape(2, 3, 2, 2))
    check("reshape", {"x": x, "shape": np.array([-1], np.int32)}, {}, x.reshape(-1))
    check("squeeze", {"x": x}, {}, x.squeeze())
    check("squeeze", {"x": x}, {"axes": [-3]}, x[:, 0])
    check("expand_dims", {"x": x}, {"axes": [0, -1]}, x[None, ..., None])
    check("transpose", {"x": x}, {"perm": [3, 0, -2, 1]}, x.transpose(3, 0, 2, 1))
    check("flatten2d", {"x": x}, {"axis": 2}, x.reshape(2, 12))
    check("flatten2d", {"x": x}, {"axis": -1}, x.reshape(6, 4))
    check("reverse", {"x": x}, {"axes": [0, -1]}, x[::-1, :, :, ::-1])
    check("reverse", {"x": x}, {}, np.flip(x))
    check("tile", {"x": x}, {"reps": [2, 1, 1, 3]}, np.tile(x, (2, 1, 1, 3)))
    check("shape", {"x": x}, {}, np.array(x.shape, np.int32))


@pytest.mark.parametrize("dtype", DTYPES)
def test_joining_and_splitting(dtype) -> None:
    parts = [numbers(2, n, 3, dtype=dtype) for n in (1, 4, 2)]
    check("concat", {"values": parts}, {"axis": 1}, np.concatenate(parts, 1))
    same = [numbers(2, 3, 4, dtype=dtype) for _ in range(3)]
    for axis in (0, 1, -1):
        woven = np.stack(same, axis % 3 + 1)
        shape = list(same[0].shape)
        shape[axis] *= 3
        constants = {"axis": axis, "interleave": True}
        check("concat", {"values": same}, constants, woven.reshape(shape))
        check("stack", {"values": same}, {"axis": axis}, np.stack(same, axis))
    whole = np.concatenate(parts, 1)
    check("split", {"x": whole}, {"axis": 1, "split_sizes": [1, 4, 2]}, parts)
    check("split", {"x": same[0]}, {"axis": -1, "num_splits": 2}, np.split(same[0], 2, -1))


def test_reverse_sequence() -> None:
    x = numbers(2, 4, 3)
    lengths = np.array([2, 3], np.int32)
    expected = x.copy()
    for row, length in enumerate(lengths):
        expected[row, :length] = x[row, :length][::-1]
    constants = {"seq_axis": 1, "batch_axis": 0}
    check("reverse_sequence", {"x": x, "lengths": lengths}, constants, expected)


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_space_and_depth(dtype) -> None:
    x = numbers(1, 8, 4, 6, dtype=dtype)
    t = torch.from_numpy(x.astype(np.float32))
    shuffled = functional.pixel_shuffle(t, 2).numpy().astype(dtype)
    check("pixel_shuffle", {"x": x}, {"upscale_factor": 2}, shuffled)
    check("pixel_unshuffle", {"x": shuffled}, {"downscale_factor": 2}, x)
    blocks = x.reshape(1, 2, 2, 2, 4, 6).transpose(0, 3, 4, 1, 5, 2).reshape(1, 2, 8, 12)
    check("depth_to_space", {"x": x}, {"block_size": 2}, blocks)
    check("space_to_depth", {"x": blocks}, {"block_size": 2}, x)


def test_space_and_batch() -> None:
    x = numbers(1, 3, 4, 6)
    padded = np.pad(x, ((0, 0), (0, 0), (0, 0), (2, 0)))
    moved = padded.reshape(1, 3, 2, 2, 4, 2).transpose(3, 5, 0, 1, 2, 4).reshape(4, 3, 2, 4)
    constants = {"block_shape": [2, 2], "paddings": [[0, 0], [2, 0]]}
    check("space_to_batch", {"x": x}, constants, moved)
    constants = {"block_shape": [2, 2], "crops": [[0, 0], [2, 0]]}
    check("batch_to_space", {"x": moved}, constants, x)


def test_reshape_like() -> None:
    x, references = numbers(2, 3, 5, 6), [numbers(2, 3, 4), numbers(1, 5, 6)]
    constants = {"begins": (0, 1), "ends": (2, 0), "end_masks": (False, True)}
    check("reshape_like", {"x": x.reshape(6, 30), "ref_tensors": references}, constants, x)


PADS = [[1, 2], [0, 1, 2, 0], [1, 1, 0, 0, 2, 1]]
MODES = {"constant": "constant", "reflect": "reflect", "replicate": "edge"}


@pytest.mark.parametrize("mode", MODES)
@pytest.mark.parametrize("pad", PADS)
def test_pad(pad, mode) -> None:
    x = numbers(3, 4, 5)
    pairs = [(0, 0)] * (3 - len(pad) // 2) + list(zip(pad[::2], pad[1::2], strict=True))
    extra = {"constant_values": 1.5} if mode == "constant" else {}
    expected = np.pad(x, pairs, MODES[mode], **extra)
    check("pad", {"x": x}, {"pad": pad, "mode": mode, "constant_val": 1.5}, expected)
    running = {"x": x, "pad": np.array(pad, np.int32)}
    check("pad", running, {"mode": mode, "constant_val": 1.5}, expected)


def test_filling() -> None:
    check("fill", {}, {"shape": [2, 3], "value": 2.5}, np.full((2, 3), 2.5, np.float32))
    check("fill", {"shape": np.array([2], np.int32)}, {"value": 7}, np.full(2, 7, np.int32))
    x = numbers(2, 3)
    check("fill_like", {"ref_tensor": x}, {"value": True}, np.ones((2, 3), bool))
    bounds = {"start": 2.0, "end": 7.0, "step": 2.0}
    check("range_1d", {}, bounds, np.arange(2, 7, 2, dtype=np.float32))
    running = {name: np.int32(value) for name, value in {"start": 9, "end": 1, "step": -3}.items()}
    check("range_1d", running, {}, np.arange(9, 1, -3, dtype=np.int32))


@pytest.mark.parametrize(("lower", "upper"), [(-1, -1), (0, -1), (-1, 0), (1, 2), (0, 0)])
def test_band_part(lower, upper) -> None:
    x = numbers(2, 4, 5) + np.float32(1)
    rows, columns = np.indices((4, 5))
    keep = ((lower < 0) | (rows - columns <= lower)) & ((upper < 0) | (columns - rows <= upper))
    check("band_part", {"x": x}, {"lower": lower, "upper": upper}, np.where(keep, x, 0))


@pytest.mark.parametrize("reverse", [False, True])
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("dtype", ["float16", "float32", "int32"])
def test_cumsum(dtype, exclusive, reverse) -> None:
    x = numbers(3, 4, dtype=dtype)
    flipped = np.flip(x, 1) if reverse else x
    total = np.cumsum(flipped, 1, dtype=dtype)
    total = total - flipped if exclusive else total
    expected = (np.flip(total, 1) if reverse else total).astype(dtype)
    check("cumsum", {"x": x}, {"axis": 1, "exclusive": exclusive, "reverse": reverse}, expected)


@pytest.mark.parametrize("axis", [-1, 0, 1])
def test_one_hot(axis) -> None:
    indices = np.array([[0, 2], [1, 2]], np.int32)
    hot = np.moveaxis(np.eye(4)[indices], -1, axis)
    constants = {"one_hot_vector_size": 4, "axis": axis}
    check("one_hot", {"indices": indices}, constants, hot.astype(np.int32))
    constants |= {"on_value": 2.5, "off_value": -1.0}
    expected = np.where(hot > 0, 2.5, -1).astype(np.float32)
    check("one_hot", {"indices": indices}, constants, expected)


def test_random_numbers_have_their_moments_and_repeat_with_a_seed() -> None:
    wanted = [np.zeros((200, 100), np.float32)]
    shape = {"shape": [200, 100], "seed": 3}
    (uniform,) = run("random_uniform", {}, {**shape, "low": -1.0, "high": 3.0}, wanted)
    assert -1 <= uniform.min() < -0.99 and 2.99 < uniform.max() < 3
    assert abs(uniform.mean() - 1) < 0.03
    (normal,) = run("random_normal", {}, {**shape, "mean": 2.0, "stddev": 0.5}, wanted)
    assert abs(normal.mean() - 2) < 0.02 and abs(normal.std() - 0.5) < 0.02
    (coin,) = run("random_bernoulli", {}, {**shape, "prob": 0.3}, wanted)
    assert set(np.unique(coin)) == {0, 1} and abs(coin.mean() - 0.3) < 0.02
    (again,) = run("random_normal", {}, {**shape, "mean": 2.0, "stddev": 0.5}, wanted)
    np.testing.assert_array_equal(normal, again)
    (other,) = run("random_normal", {}, {"shape": [200, 100], "seed": 4}, wanted)
    assert not np.array_equal(normal, other)


def test_random_classes_follow_their_probabilities() -> None:
    probabilities = np.array([[0.1, 0.6, 0.3], [0.5, 0.0, 0.5]], np.float32)
    for mode, x in (("probs", probabilities), ("logits", np.log(probabilities + 1e-9))):
        wanted = [np.zeros((2, 5000), np.float32)]
        constants = {"mode": mode, "size": 5000, "seed": 5}
        (drawn,) = run("random_categorical", {"x": x}, constants, wanted)
        counts = np.stack([(drawn == k).mean(1) for k in range(3)], 1)
        np.testing.assert_allclose(counts, probabilities, atol=0.03)
