"""Gather, scatter, slices and sorting against NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest

from tests.engines.oneop import check

RNG = np.random.default_rng(5)
DTYPES = ["float16", "float32", "int32", "int8", "bool"]


def numbers(*shape, dtype="float32"):
    return RNG.integers(-9, 9, shape).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("shape", [(), (3,), (2, 2)], ids=str)
def test_gather(shape, axis, dtype) -> None:
    x, indices = numbers(3, 4, 5, dtype=dtype), RNG.integers(0, 3, shape).astype(np.int32)
    check("gather", {"x": x, "indices": indices}, {"axis": axis}, np.take(x, indices, axis))
    if dtype in ("int8", "bool"):
        return
    expected = np.take(x, indices - 3, axis)
    check("gather", {"x": x, "indices": indices - np.int32(3)}, {"axis": axis}, expected, 15)


@pytest.mark.parametrize("kind", ["uint8", "int8", "uint16", "int16"])
def test_gather_by_small_integers(kind) -> None:
    x, indices = numbers(5, 2), np.array([4, 0, 3]).astype(kind)
    check("gather", {"x": x, "indices": indices}, {"axis": 0}, x[[4, 0, 3]])


def test_gather_with_batch_axes() -> None:
    x, indices = numbers(2, 3, 4), RNG.integers(0, 4, (2, 3, 2)).astype(np.int32)
    expected = np.take_along_axis(x, indices, 2)
    constants = {"axis": 2, "batch_dims": 2, "validate_indices": False}
    check("gather", {"x": x, "indices": indices}, constants, expected)
    check("gather_nd", {"x": x, "indices": indices[:, :, :1]}, {"batch_dims": 2}, expected[..., 0])


def test_gather_nd_and_along_axis() -> None:
    x = numbers(3, 4, 5)
    pairs = np.array([[0, 1], [2, 3], [1, 1]], np.int32)
    check("gather_nd", {"x": x, "indices": pairs}, {}, x[pairs[:, 0], pairs[:, 1]])
    indices = RNG.integers(0, 4, (3, 2, 5)).astype(np.int32)
    expected = np.take_along_axis(x, indices, 1)
    check("gather_along_axis", {"x": x, "indices": indices}, {"axis": 1}, expected)


UPDATES = {
    "update": lambda d, i, u: np.put(d, i, u),
    "add": np.add.at,
    "sub": np.subtract.at,
    "mul": np.multiply.at,
    "div": np.divide.at,
    "max": np.maximum.at,
    "min": np.minimum.at,
}
MODES = list(UPDATES)


def scattered(data, places, updates, mode):
    """``data`` with updates at multi-indices ``places``, by NumPy's unbuffered functions."""
    result = data.copy()
    if mode == "update":
        result[places] = updates
    else:
        UPDATES[mode](result, places, updates)
    return result


@pytest.mark.parametrize("opset", [15, 18])
@pytest.mark.parametrize("mode", [None, *MODES])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_scatter(axis, mode, opset) -> None:
    data, indices = numbers(3, 4, 3), np.array([2, 0], np.int32)
    updates = np.take(numbers(3, 4, 3) + np.float32(20), [0, 1], axis)
    where: list = [slice(None)] * 3
    where[axis] = indices
    expected = scattered(data, tuple(where), updates, mode or "add")
    constants = {"axis": axis, **({"mode": mode} if mode else {})}
    tensors = {"data": data, "indices": indices, "updates": updates}
    check("scatter", tensors, constants, expected, opset)


@pytest.mark.parametrize("dtype", ["float16", "float32", "int32"])
@pytest.mark.parametrize("mode", [None, *MODES])
def test_scatter_along_axis_and_nd(mode, dtype) -> None:
    if (mode, dtype) == ("div", "int32"):
        return
    data, updates = numbers(3, 4, dtype=dtype), numbers(2, 4, dtype=dtype) + np.asarray(12, dtype)
    indices = np.stack([RNG.permutation(3)[:2] for _ in range(4)], 1).astype(np.int32)
    where = (indices, np.broadcast_to(np.arange(4), indices.shape))
    constants = {"mode": mode} if mode else {}
    tensors = {"data": data, "indices": indices, "updates": updates}
    expected = scattered(data, where, updates, mode or "add")
    check("scatter_along_axis", tensors, {"axis": 0, **constants}, expected)
    pairs = np.array([[0, 1], [2, 3]], np.int32)
    tensors = {"data": data, "indices": pairs, "updates": updates[0, :2]}
    expected = scattered(data, tuple(pairs.T), updates[0, :2], mode or "add")
    check("scatter_nd", tensors, constants, expected)


def test_adding_to_one_place_twice_counts_twice() -> None:
    data, updates = numbers(3), np.ones(4, np.float32)
    indices = np.array([1, 1, 2, 1], np.int32)
    expected = data + np.float32([0, 3, 1])
    tensors = {"data": data, "indices": indices, "updates": updates}
    check("scatter", tensors, {"mode": "add"}, expected)
    tensors["indices"] = indices[:, None]
    check("scatter_nd", tensors, {"mode": "add"}, expected)


SLICES = [
    ([0, 1, 2], [2, 3, 5], [1, 1, 1]),
    ([0, -3, 0], [2, -1, 6], [1, 1, 2]),
    ([1, 3, -1], [-3, 0, -6], [-1, -1, -2]),
    ([0, 0, 0], [9, 9, 9], [2, 3, 4]),
]
MASKS = [None, [True, False, True], [False, True, True]]


@pytest.mark.parametrize("dtype", ["float16", "int32", "bool", "uint8"])
@pytest.mark.parametrize(("begin", "end", "stride"), SLICES)
def test_slice_by_index(begin, end, stride, dtype) -> None:
    x = numbers(2, 4, 6, dtype=dtype)
    for begin_mask, end_mask in itertools.product(MASKS, MASKS):
        parts = tuple(
            slice(
                None if begin_mask and begin_mask[a] else begin[a],
                None if end_mask and end_mask[a] else end[a],
                stride[a],
            )
            for a in range(3)
        )
        if 0 in x[parts].shape:
            continue
        constants = {"stride": stride}
        constants |= {"begin_mask": begin_mask} if begin_mask else {}
        constants |= {"end_mask": end_mask} if end_mask else {}
        where = {"begin": begin, "end": end}
        check("slice_by_index", {"x": x}, {**constants, **where}, x[parts])
        running = {name: np.array(value, np.int32) for name, value in where.items()}
        check("slice_by_index", {"x": x, **running}, constants, x[parts])


def test_slice_by_index_squeezes() -> None:
    x = numbers(2, 4, 6)
    constants = {"begin": [1, -2, 1], "end": [0, 0, 3], "squeeze_mask": [True, True, False]}
    check("slice_by_index", {"x": x}, constants, x[1, -2, 1:3])


@pytest.mark.parametrize("known", [True, False])
def test_slice_by_size(known) -> None:
    x = numbers(3, 4, 5)
    for begin, size in (
        ([0, 1, 2], [2, 3, 1]),
        ([1, 1, -2], [-1, 2, -1]),
        ([0, 0, 0], [-1, -1, 5]),
    ):
        stop = [n if s == -1 else b % n + s for b, s, n in zip(begin, size, x.shape, strict=True)]
        start = [b % n for b, n in zip(begin, x.shape, strict=True)]
        expected = x[tuple(slice(a, b) for a, b in zip(start, stop, strict=True))]
        where = {"begin": np.array(begin, np.int32), "size": np.array(size, np.int32)}
        given = ({"x": x}, where) if known else ({"x": x, **where}, {})
        check("slice_by_size", *given, expected)


@pytest.mark.parametrize("known", [True, False])
@pytest.mark.parametrize("dtype", ["float16", "float32", "int32", "bool"])
@pytest.mark.parametrize(("begin", "end", "stride"), SLICES)
def test_slice_update(begin, end, stride, dtype, known) -> None:
    x = numbers(2, 4, 6, dtype=dtype)
    for begin_mask, end_mask in itertools.product(MASKS, MASKS):
        parts = tuple(
            slice(
                None if begin_mask and begin_mask[a] else begin[a],
                None if end_mask and end_mask[a] else end[a],
                stride[a],
            )
            for a in range(3)
        )
        if 0 in x[parts].shape:
            continue
        expected, update = x.copy(), numbers(*x[parts].shape, dtype=dtype)
        expected[parts] = update
        constants = {"stride": stride}
        constants |= {"begin_mask": begin_mask} if begin_mask else {}
        constants |= {"end_mask": end_mask} if end_mask else {}
        where = {"begin": np.array(begin, np.int32), "end": np.array(end, np.int32)}
        tensors = {"x": x, "update": update}
        given = (tensors, {**constants, **where}) if known else ({**tensors, **where}, constants)
        check("slice_update", *given, expected)


def test_slice_update_squeezes() -> None:
    x, update = numbers(2, 4, 6), numbers(6)
    expected = x.copy()
    expected[1, -2] = update
    constants = {
        "begin": [1, -2, 0],
        "end": [0, 0, 0],
        "squeeze_mask": [True, True, False],
        "end_mask": [False, False, True],
    }
    check("slice_update", {"x": x, "update": update}, constants, expected)


@pytest.mark.parametrize("ascending", [False, True])
@pytest.mark.parametrize("axis", [0, 1, -1])
@pytest.mark.parametrize("opset", [15, 16, 17, 18])
def test_topk_and_argsort(opset, axis, ascending) -> None:
    x = RNG.permutation(60).reshape(3, 4, 5).astype(np.float32)
    order = np.argsort(x if ascending else -x, axis, kind="stable")
    expected = [np.take(order, [0, 1], axis)]
    values = np.take_along_axis(x, expected[0], axis)
    constants = {"k": 2, "axis": axis, "ascending": ascending}
    check("topk", {"x": x}, constants, [values, expected[0].astype(np.int32)], opset)
    check(
        "argsort", {"x": x}, {"axis": axis, "ascending": ascending}, order.astype(np.int32), opset
    )
    if opset >= 16:
        check("topk", {"x": x}, {**constants, "return_indices": False}, values, opset)
    if opset >= 17:
        constants["output_indices_dtype"] = "uint16"
        check("topk", {"x": x}, constants, [values, expected[0].astype(np.uint16)], opset)
        every = np.take_along_axis(x, order, axis)
        constants["k"] = -1
        check("topk", {"x": x}, constants, [every, order.astype(np.uint16)], opset)


def test_sorting_keeps_the_order_of_equals() -> None:
    x = np.array([1, 3, 1, 3, 1, 3, 2, 2], np.float32)
    expected = np.argsort(-x, kind="stable").astype(np.int32)
    check("argsort", {"x": x}, {"axis": 0}, expected)


@pytest.mark.parametrize("dtype", DTYPES)
def test_non_zero(dtype) -> None:
    x = numbers(3, 4, dtype=dtype) * (RNG.random((3, 4)) < 0.5).astype(dtype)
    check("non_zero", {"x": x}, {}, np.argwhere(x).astype(np.int32))
