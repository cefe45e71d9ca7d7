"""Convolutions, pooling, products, normalisations and reductions against torch and NumPy."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch
from torch.nn import functional

from tests.engines.oneop import check

FLOATS = ["float16", "float32"]
RNG = np.random.default_rng(4)
CONVS = [functional.conv1d, functional.conv2d, functional.conv3d]
TRANSPOSED = [
    functional.conv_transpose1d,
    functional.conv_transpose2d,
    functional.conv_transpose3d,
]


def random(*shape, dtype="float32"):
    return RNG.uniform(-1, 1, shape).astype(dtype)


def t(x):
    return torch.from_numpy(np.asarray(x, np.float64))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("groups", [1, 2, 4])
@pytest.mark.parametrize(
    ("axes", "stride", "dilation"), [(1, 2, 1), (2, 1, 2), (2, 2, 1), (3, 1, 1)]
)
def test_conv(axes, stride, dilation, groups, dtype) -> None:
    x, bias = random(2, 4, *[9] * axes, dtype=dtype), random(8, dtype=dtype)
    weight = random(8, 4 // groups, *[3] * axes, dtype=dtype)
    constants = {
        "strides": [stride] * axes,
        "dilations": [dilation] * axes,
        "groups": groups,
        "weight": weight,
        "bias": bias,
    }
    padding = [1, 2] * axes
    padded = functional.pad(t(x), padding)
    for pad_type, given in (("valid", t(x)), ("custom", padded)):
        expected = CONVS[axes - 1](given, t(weight), t(bias), stride, 0, dilation, groups)
        extra = {"pad_type": pad_type, "pad": padding}
        check(
            "conv", {"x": x}, {**constants, **extra}, expected.numpy().astype(dtype), tolerance=9e-3
        )


@pytest.mark.parametrize(("pad_type", "before"), [("same", (0, 1)), ("same_lower", (1, 0))])
def test_conv_same(pad_type, before) -> None:
    x, weight = random(1, 2, 8, 8), random(3, 2, 3, 3)
    padded = functional.pad(t(x), [*before, *before])
    expected = functional.conv2d(padded, t(weight), stride=2).numpy().astype("float32")
    constants = {"pad_type": pad_type, "strides": [2, 2]}
    check("conv", {"x": x, "weight": weight}, constants, expected)


@pytest.mark.parametrize("groups", [1, 2])
@pytest.mark.parametrize(
    ("axes", "stride", "dilation"), [(1, 2, 1), (2, 1, 2), (2, 3, 1), (3, 2, 1)]
)
def test_conv_transpose(axes, stride, dilation, groups) -> None:
    x, bias = random(2, 4, *[5] * axes), random(6)
    weight = random(4, 6 // groups, *[3] * axes)
    constants = {
        "weight": weight,
        "bias": bias,
        "strides": [stride] * axes,
        "dilations": [dilation] * axes,
        "groups": groups,
    }
    reference = TRANSPOSED[axes - 1]
    for pad in (0, 1):
        expected = (
            reference(t(x), t(weight), t(bias), stride, pad, 0, groups, dilation)
            .numpy()
            .astype("float32")
        )
        extra = {"pad_type": "custom", "pad": [pad] * 2 * axes}
        check("conv_transpose", {"x": x}, {**constants, **extra}, expected)
    if stride > 1:
        expected = reference(t(x), t(weight), t(bias), stride, 1, 1, groups, dilation)
        extra["output_shape"] = list(expected.shape)
        check(
            "conv_transpose", {"x": x}, {**constants, **extra}, expected.numpy().astype("float32")
        )


@pytest.mark.parametrize("ceil", [False, True])
@pytest.mark.parametrize("pad", [0, 1])
@pytest.mark.parametrize(("axes", "kernel", "stride"), [(1, 3, 2), (2, 3, 1), (2, 2, 2), (2, 3, 3)])
def test_pools(axes, kernel, stride, pad, ceil) -> None:
    x = random(2, 3, *[8] * axes)
    kinds = (
        [functional.max_pool1d, functional.max_pool2d],
        [
            functional.avg_pool1d,
            functional.avg_pool2d,
        ],
    )
    constants = {
        "kernel_sizes": [kernel] * axes,
        "strides": [stride] * axes,
        "pad_type": "custom",
        "pad": [pad] * 2 * axes,
        "ceil_mode": ceil,
    }
    expected = kinds[0][axes - 1](t(x), kernel, stride, pad, ceil_mode=ceil)
    check("max_pool", {"x": x}, constants, expected.numpy().astype("float32"))
    for exclude in (False, True):
        expected = kinds[1][axes - 1](
            t(x), kernel, stride, pad, ceil_mode=ceil, count_include_pad=not exclude
        )
        extra = {"exclude_padding_from_average": exclude}
        check("avg_pool", {"x": x}, {**constants, **extra}, expected.numpy().astype("float32"))


def test_l2_pool_and_pool_over_three_axes() -> None:
    x = random(1, 2, 6, 6)
    expected = functional.lp_pool2d(t(x), 2, 3, 3).numpy().astype("float32")
    constants = {"kernel_sizes": [3, 3], "strides": [3, 3], "pad_type": "valid"}
    check("l2_pool", {"x": x}, constants, expected)
    x = random(1, 2, 4, 4, 4)
    expected = functional.max_pool3d(t(x), 2, 1).numpy().astype("float32")
    check("max_pool", {"x": x}, {"kernel_sizes": [2, 2, 2], "pad_type": "valid"}, expected)


@pytest.mark.parametrize("dtype", FLOATS)
def test_linear(dtype) -> None:
    for shape in ((5,), (2, 5), (2, 3, 5)):
        x, weight, bias = (
            random(*shape, dtype=dtype),
            random(4, 5, dtype=dtype),
            random(4, dtype=dtype),
        )
        expected = functional.linear(t(x), t(weight), t(bias)).numpy().astype(dtype)
        check("linear", {"x": x}, {"weight": weight, "bias": bias}, expected)


@pytest.mark.parametrize("flip_x", [False, True])
@pytest.mark.parametrize("flip_y", [False, True])
@pytest.mark.parametrize(
    ("left", "right"), [((3, 4), (4, 5)), ((2, 3, 4), (4, 5)), ((2, 1, 3, 4), (6, 4, 5))]
)
def test_matmul(left, right, flip_x, flip_y) -> None:
    x, y = random(*left), random(*right)
    expected = x @ y
    x = np.ascontiguousarray(x.swapaxes(-1, -2)) if flip_x else x
    y = np.ascontiguousarray(y.swapaxes(-1, -2)) if flip_y else y
    check("matmul", {"x": x, "y": y}, {"transpose_x": flip_x, "transpose_y": flip_y}, expected)


@pytest.mark.parametrize(
    ("left", "right"), [((4,), (4,)), ((4,), (4, 5)), ((3, 4), (4,)), ((2, 3, 4), (4,))]
)
def test_matmul_of_vectors(left, right) -> None:
    x, y = random(*left), random(*right)
    check("matmul", {"x": x, "y": y}, {}, np.asarray(x @ y))


@pytest.mark.parametrize(
    ("equation", "left", "right"),
    [
        ("nchw,nwhu->nchu", (2, 3, 4, 5), (2, 5, 4, 6)),
        ("bhwc,hkc->bhwk", (2, 3, 4, 5), (3, 6, 5)),
        ("abcd, adce -> abce", (2, 3, 4, 5), (2, 5, 4, 6)),
        ("ab,bc->ac", (2, 3), (3, 4)),
        ("bnqd,bnkd->bnqk", (1, 2, 3, 4), (1, 2, 5, 4)),
    ],
)
def test_einsum(equation, left, right) -> None:
    values = [random(*left), random(*right)]
    check("einsum", {"values": values}, {"equation": equation}, np.einsum(equation, *values))


@pytest.mark.parametrize("dtype", FLOATS)
def test_norms(dtype) -> None:
    x = random(2, 4, 5, 6, dtype=dtype)
    gamma, beta, mean = (random(4, dtype=dtype) for _ in range(3))
    variance = np.abs(random(4, dtype=dtype)) + np.asarray(0.5, dtype)
    eps = np.asarray(1e-3, dtype)
    scale = {"gamma": gamma, "beta": beta}
    expected = functional.batch_norm(t(x), t(mean), t(variance), t(gamma), t(beta), eps=1e-3)
    constants = {"mean": mean, "variance": variance, "epsilon": eps}
    check(
        "batch_norm",
        {"x": x},
        {**constants, **scale},
        expected.numpy().astype(dtype),
        tolerance=1e-2,
    )
    expected = functional.instance_norm(t(x), None, None, t(gamma), t(beta), eps=1e-3)
    check(
        "instance_norm",
        {"x": x},
        {**scale, "epsilon": eps},
        expected.numpy().astype(dtype),
        tolerance=1e-2,
    )
    expected = functional.local_response_norm(t(x), 3, 0.1, 0.75, 1.5)
    constants = {"size": 3, "alpha": np.asarray(0.1, dtype), "k": np.asarray(1.5, dtype)}
    check("local_response_norm", {"x": x}, constants, expected.numpy().astype(dtype))
    expected = functional.local_response_norm(t(x), 2, 0.1)
    constants = {"size": 2, "alpha": np.asarray(0.1, dtype)}
    check("local_response_norm", {"x": x}, constants, expected.numpy().astype(dtype))
    total = (t(x) ** 2).sum((1, 2, 3), keepdim=True)
    check(
        "l2_norm", {"x": x}, {"epsilon": eps}, (t(x) / (total + 1e-3).sqrt()).numpy().astype(dtype)
    )


@pytest.mark.parametrize("axes", [[-1], [2], [1, 2], [-2, -1], [1], [0, 1, 2]])
@pytest.mark.parametrize("dtype", FLOATS)
def test_layer_norm(axes, dtype) -> None:
    x = random(3, 4, 5, dtype=dtype)
    mean = x.astype(np.float64).mean(tuple(axes), keepdims=True)
    spread = x.astype(np.float64).var(tuple(axes), keepdims=True)
    normal = (x - mean) / np.sqrt(spread + 1e-5)
    check("layer_norm", {"x": x}, {"axes": axes}, normal.astype(dtype), tolerance=1e-2)
    shape = [x.shape[a] for a in sorted(a % 3 for a in axes)]
    gamma, beta = random(*shape, dtype=dtype), random(*shape, dtype=dtype)
    full = [x.shape[a] if a in {b % 3 for b in axes} else 1 for a in range(3)]
    expected = (normal * gamma.reshape(full) + beta.reshape(full)).astype(dtype)
    constants = {"axes": axes, "gamma": gamma, "beta": beta}
    check("layer_norm", {"x": x}, constants, expected, tolerance=1e-2)


REDUCTIONS = {
    "reduce_l1_norm": lambda x, **k: np.abs(x).sum(**k),
    "reduce_l2_norm": lambda x, **k: np.sqrt((x**2).sum(**k)),
    "reduce_log_sum": lambda x, **k: np.log(x.sum(**k)),
    "reduce_log_sum_exp": lambda x, **k: np.log(np.exp(x).sum(**k)),
    "reduce_max": np.max,
    "reduce_mean": np.mean,
    "reduce_min": np.min,
    "reduce_prod": np.prod,
    "reduce_sum": np.sum,
    "reduce_sum_square": lambda x, **k: (x**2).sum(**k),
}


@pytest.mark.parametrize("keep", [False, True])
@pytest.mark.parametrize("axes", [None, [0], [-1], [0, 2], [0, 1, 2]])
@pytest.mark.parametrize("name", REDUCTIONS)
def test_reductions(name, axes, keep) -> None:
    for dtype in FLOATS:
        x = (random(2, 3, 4, dtype=dtype) + np.asarray(1.5, dtype)).astype(dtype)
        constants = {"keep_dims": keep, **({} if axes is None else {"axes": axes})}
        where = None if axes is None else tuple(axes)
        expected = REDUCTIONS[name](x.astype(np.float64), axis=where, keepdims=keep)
        check(
            name,
            {"x": x},
            constants,
            np.asarray(expected, dtype),
            tolerance=9e-3 if dtype == "float16" else 1e-4,
        )


@pytest.mark.parametrize("name", ["reduce_max", "reduce_min", "reduce_sum", "reduce_prod"])
def test_reductions_of_integers(name) -> None:
    x = RNG.integers(-4, 5, (2, 3)).astype(np.int32)
    expected = REDUCTIONS[name](x, axis=1).astype(np.int32)
    check(name, {"x": x}, {"axes": [1], "keep_dims": False}, expected)


@pytest.mark.parametrize("opset", [15, 18])
@pytest.mark.parametrize(("axis", "keep"), itertools.product([0, 1, -1], [False, True]))
def test_arg_reductions_take_the_first(axis, keep, opset) -> None:
    x = RNG.integers(0, 3, (3, 4, 5)).astype(np.float32)
    for name, reference in (("reduce_argmax", np.argmax), ("reduce_argmin", np.argmin)):
        expected = reference(x, axis=axis, keepdims=keep).astype(np.int32)
        check(name, {"x": x}, {"axis": axis, "keep_dims": keep}, expected, opset)
    if opset == 18:
        constants = {"axis": axis, "keep_dims": keep, "output_dtype": "uint16"}
        check("reduce_argmin", {"x": x}, constants, expected.astype(np.uint16))


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("mask", [None, "bool", "float"])
def test_scaled_dot_product_attention(mask, dtype) -> None:
    q, k, v = (
        random(2, 3, 4, 8, dtype=dtype),
        random(2, 3, 6, 8, dtype=dtype),
        random(2, 3, 6, 5, dtype=dtype),
    )
    tensors = {"query": q, "key": k, "value": v}
    given = None
    if mask:
        keep = RNG.integers(0, 2, (4, 6)).astype(bool)
        keep[:, 0] = True
        tensors["attn_mask"] = keep if mask == "bool" else np.where(keep, 0, -9).astype(dtype)
        given = torch.from_numpy(tensors["attn_mask"])
        given = given if mask == "bool" else given.double()
    expected = functional.scaled_dot_product_attention(t(q), t(k), t(v), given)
    check("scaled_dot_product_attention", tensors, {}, expected.numpy().astype(dtype))
