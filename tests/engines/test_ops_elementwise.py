"""Elementwise ops and activations, in both float types, against torch computing in float64."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from torch.nn import functional

from tests.engines.oneop import check

FLOATS = ["float16", "float32"]
RNG = np.random.default_rng(3)
VALUES = np.concatenate([RNG.uniform(-3, 3, 57), [0.0, -0.0, 0.5, 1.5, 2.5, -0.5, 1.0]])
VALUES = VALUES.reshape(2, 4, 8)
POSITIVE = np.abs(VALUES) + 0.1
UNIT = np.clip(VALUES / 3.2, -0.95, 0.95)


def t(x):
    return torch.from_numpy(np.asarray(x, np.float64))


UNARY = {
    "abs": (VALUES, torch.abs),
    "acos": (UNIT, torch.acos),
    "asin": (UNIT, torch.asin),
    "atan": (VALUES, torch.atan),
    "atanh": (UNIT, torch.atanh),
    "ceil": (VALUES, torch.ceil),
    "cos": (VALUES, torch.cos),
    "cosh": (VALUES, torch.cosh),
    "erf": (VALUES, torch.erf),
    "exp": (VALUES, torch.exp),
    "exp2": (VALUES, torch.exp2),
    "floor": (VALUES, torch.floor),
    "round": (VALUES, torch.round),
    "sign": (VALUES, torch.sign),
    "sin": (VALUES, torch.sin),
    "sinh": (VALUES, torch.sinh),
    "sqrt": (POSITIVE, torch.sqrt),
    "square": (VALUES, torch.square),
    "tan": (UNIT, torch.tan),
    "tanh": (VALUES, torch.tanh),
    "identity": (VALUES, lambda x: x),
    "relu": (VALUES, torch.relu),
    "relu6": (VALUES * 4, functional.relu6),
    "sigmoid": (VALUES, torch.sigmoid),
    "silu": (VALUES, functional.silu),
    "softplus": (VALUES, functional.softplus),
    "softsign": (VALUES, functional.softsign),
}


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("name", UNARY)
def test_unary(name, dtype) -> None:
    x, reference = UNARY[name]
    x = x.astype(dtype)
    check(name, {"x": x}, {}, reference(t(x)).numpy().astype(dtype))


WITH_CONSTANTS = [
    (
        "clamped_relu",
        {"alpha": 0.3, "beta": 1.7},
        lambda x: functional.leaky_relu(x, 0.3).clamp(max=1.7),
    ),
    ("clip", {"alpha": -1.1, "beta": 1.3}, lambda x: x.clamp(-1.1, 1.3)),
    ("elu", {"alpha": 0.7}, lambda x: functional.elu(x, 0.7)),
    ("gelu", {}, functional.gelu),
    ("gelu", {"mode": "EXACT"}, functional.gelu),
    ("gelu", {"mode": "TANH_APPROXIMATION"}, lambda x: functional.gelu(x, approximate="tanh")),
    ("gelu", {"mode": "SIGMOID_APPROXIMATION"}, lambda x: x * torch.sigmoid(1.702 * x)),
    ("leaky_relu", {"alpha": 0.2}, lambda x: functional.leaky_relu(x, 0.2)),
    ("leaky_relu", {"alpha": 1.5}, lambda x: functional.leaky_relu(x, 1.5)),
    ("linear_activation", {"alpha": 2.0, "beta": -0.5}, lambda x: 2 * x - 0.5),
    ("scaled_tanh", {"alpha": 1.2, "beta": 0.4}, lambda x: 1.2 * torch.tanh(0.4 * x)),
    ("sigmoid_hard", {"alpha": 0.3, "beta": 0.4}, lambda x: (0.3 * x + 0.4).clamp(0, 1)),
    ("thresholded_relu", {"alpha": 1.0}, lambda x: torch.where(x >= 1, x, 0.0)),
    ("threshold", {"alpha": 0.5}, lambda x: x.clamp(min=0.5)),
    ("softmax", {}, lambda x: x.softmax(-1)),
    ("softmax", {"axis": 1}, lambda x: x.softmax(1)),
    ("softmax", {"axis": -3}, lambda x: x.softmax(0)),
    ("inverse", {"epsilon": 0.25}, lambda x: 1 / (x + 0.25)),
    ("log", {"epsilon": 0.25}, lambda x: torch.log(x + 0.25)),
    ("rsqrt", {"epsilon": 0.25}, lambda x: torch.rsqrt(x + 0.25)),
    ("inverse", {}, lambda x: 1 / (x + 1e-4)),
    ("log", {}, torch.log),
    ("rsqrt", {}, torch.rsqrt),
]


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("name", "constants", "reference"), WITH_CONSTANTS)
def test_with_constants(name, constants, reference, dtype) -> None:
    x = (POSITIVE if name in ("inverse", "log", "rsqrt") else VALUES).astype(dtype)
    typed = {k: np.asarray(v, dtype) if isinstance(v, float) else v for k, v in constants.items()}
    check(name, {"x": x}, typed, reference(t(x)).numpy().astype(dtype))


@pytest.mark.parametrize("dtype", FLOATS)
def test_values_per_channel(dtype) -> None:
    x = VALUES.astype(dtype)
    alpha, beta = RNG.uniform(0.1, 1, 4).astype(dtype), RNG.uniform(0.1, 2, 4).astype(dtype)
    expected = functional.prelu(t(x), t(alpha)).numpy().astype(dtype)
    check("prelu", {"x": x}, {"alpha": alpha}, expected)
    column = t(alpha)[:, None]
    expected = (column * functional.softplus(t(beta)[:, None] * t(x))).numpy().astype(dtype)
    check("softplus_parametric", {"x": x}, {"alpha": alpha, "beta": beta}, expected)


ARITHMETIC = {
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "floor_div": np.floor_divide,
    "mod": np.mod,
}
COMPARISONS = {
    "equal": np.equal,
    "not_equal": np.not_equal,
    "greater": np.greater,
    "greater_equal": np.greater_equal,
    "less": np.less,
    "less_equal": np.less_equal,
}
SHAPES = [((2, 3, 4), (2, 3, 4)), ((2, 3, 4), (3, 1)), ((4,), (2, 1, 1, 4)), ((), (2, 2)), ((), ())]


@pytest.mark.parametrize("shapes", SHAPES, ids=str)
@pytest.mark.parametrize("dtype", [*FLOATS, "int32"])
@pytest.mark.parametrize("name", [*ARITHMETIC, *COMPARISONS])
def test_binary(name, dtype, shapes) -> None:
    x, y = (RNG.integers(-9, 9, shape).astype(dtype) for shape in shapes)
    if name in ("floor_div", "mod"):
        y = np.where(y == 0, 3, y).astype(dtype)
    reference = {**ARITHMETIC, **COMPARISONS}[name]
    check(name, {"x": x, "y": y}, {}, np.asarray(reference(x, y)))


@pytest.mark.parametrize("dtype", FLOATS)
def test_division_and_powers(dtype) -> None:
    x, y = POSITIVE.astype(dtype), (POSITIVE[::-1] / 2).astype(dtype)
    check("real_div", {"x": x, "y": y}, {}, x / y)
    check("pow", {"x": x, "y": y}, {}, (x.astype(np.float64) ** y).astype(dtype))
    check(
        "pow", {"x": VALUES.astype(dtype)}, {"y": np.asarray(2, dtype)}, VALUES.astype(dtype) ** 2
    )


@pytest.mark.parametrize(
    ("name", "reference"),
    [
        ("logical_and", np.logical_and),
        ("logical_or", np.logical_or),
        ("logical_xor", np.logical_xor),
    ],
)
def test_logical(name, reference) -> None:
    x, y = RNG.integers(0, 2, (2, 5)).astype(bool), RNG.integers(0, 2, (5,)).astype(bool)
    check(name, {"x": x, "y": y}, {}, reference(x, y))
    check("logical_not", {"x": x}, {}, ~x)


NAMES = {"fp16": "float16", "fp32": "float32"}
CASTS = ["fp16", "fp32", "int32", "bool", "int8", "uint8", "int16", "uint16"]


@pytest.mark.parametrize("target", CASTS)
@pytest.mark.parametrize("source", ["float16", "float32", "int32", "bool", "int8", "uint8"])
def test_cast(source, target) -> None:
    x = np.array([0, 1, 2.75, 100.5, 0.25]).astype(source)
    check("cast", {"x": x}, {"dtype": target}, x.astype(NAMES.get(target, target)))


@pytest.mark.parametrize("target", ["fp16", "fp32", "int32", "int8", "int16"])
@pytest.mark.parametrize("source", ["float16", "float32", "int32"])
def test_cast_of_negatives_goes_towards_zero(source, target) -> None:
    x = np.array([-2.75, -1, -0.5, 0.5]).astype(source)
    check("cast", {"x": x}, {"dtype": target}, x.astype(NAMES.get(target, target)))


def test_clip_of_an_infinite_bound() -> None:
    x = VALUES.astype(np.float32)
    check("clip", {"x": x}, {"alpha": np.float32(0), "beta": np.float32(np.inf)}, np.maximum(x, 0))


@pytest.mark.parametrize("dtype", [*FLOATS, "int32", "bool"])
def test_select(dtype) -> None:
    a, b = (RNG.integers(0, 2, shape).astype(dtype) for shape in ((2, 3), (3,)))
    cond = RNG.integers(0, 2, (2, 1)).astype(bool)
    check("select", {"cond": cond, "a": a, "b": b}, {}, np.where(cond, a, b))
