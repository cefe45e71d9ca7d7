"""Constant methods, against those that ExecuTorch's exporter emits."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from executorch.exir import to_edge
from torch.export import export

from pteron.edit import add_constant_methods
from pteron.errors import UnsupportedError, UsageError
from pteron.files import PTEFile
from tests.edit.proof import proven, run
from tests.files.made import X, mlp
from tests.files.oracle import plain, their_file

Opened = Callable[[str], PTEFile]

VALUES: dict[str, Any] = {
    "get_max_seq_len": 128,
    "get_low": -(1 << 63),
    "use_kv_cache": True,
    "get_scale": 0.1,
    "get_infinity": float("inf"),
    "get_name": "läma",
    "get_eos_ids": [1, 2, 3],
    "get_pair": (1, 2.5),
    "get_config": {"b": 1, "a": [True, {"deep": "x"}]},
    "get_table": torch.arange(6, dtype=torch.int64).reshape(2, 3),
    "get_halves": torch.ones(4, dtype=torch.float16),
    "get_scalar": torch.tensor(3.5),
    "get_weights_again": torch.ones(4, dtype=torch.float16),
    "get_mixed": [1, torch.zeros(2, dtype=torch.bool)],
}


def numpied(value: Any) -> Any:
    return value.numpy() if isinstance(value, torch.Tensor) else value


@pytest.fixture(scope="module")
def exported() -> Any:
    return export(mlp(), (X,))


@pytest.mark.parametrize("convert", [numpied, lambda value: value], ids=["numpy", "torch"])
def test_equal_to_what_executorch_emits(exported: Any, convert: Callable[[Any], Any]) -> None:
    from pteron.files import open as open_file

    without = bytes(to_edge(exported).to_executorch().buffer)
    given = dict(VALUES) | {"get_mixed": [1, numpied(VALUES["get_mixed"][1])]}
    theirs = bytes(to_edge(exported, constant_methods=VALUES).to_executorch().buffer)
    file = open_file(without)
    assert isinstance(file, PTEFile)
    ours = proven(
        add_constant_methods(file, {name: convert(value) for name, value in given.items()})
    )
    assert plain(their_file(ours)) == plain(their_file(theirs))
    assert list(file.methods) == ["forward"]


def test_executorch_returns_the_values(opened: Opened) -> None:
    table = np.arange(6, dtype=np.float32).reshape(2, 3).T
    data = proven(add_constant_methods(opened("portable"), {"get": [7, table]}))
    seven, returned = run(data, method="get")
    assert int(seven) == 7
    assert np.array_equal(returned.numpy(), table)


def test_bfloat16(opened: Opened) -> None:
    ones = np.ones(3, ml_dtypes.bfloat16)
    (returned,) = run(proven(add_constant_methods(opened("portable"), {"get": ones})), method="get")
    assert returned.dtype == torch.bfloat16
    assert returned.tolist() == [1, 1, 1]


@pytest.mark.parametrize(
    ("values", "error", "message"),
    [
        ({"forward": 1}, UsageError, "there is a method 'forward' already"),
        ({"": 1}, UsageError, "a name is empty"),
        ({"get": 1 << 63}, UsageError, "does not fit 64 bits"),
        ({"get": None}, UsageError, "cannot return a NoneType"),
        ({"get": {1.5: 2}}, UsageError, "keys of a dict"),
        ({"get": np.array(["text"])}, UnsupportedError, "no ExecuTorch scalar type"),
    ],
)
def test_bad_values(
    opened: Opened, values: dict[str, Any], error: type[Exception], message: str
) -> None:
    with pytest.raises(error, match=message):
        add_constant_methods(opened("portable"), values)


def test_deep_nesting(opened: Opened) -> None:
    value: list[Any] = []
    for _ in range(2000):
        value = [value]
    with pytest.raises(UsageError, match="nested more than 64 deep"):
        add_constant_methods(opened("portable"), {"get": value})


@pytest.mark.parametrize("value", [[], (), {}, [[], {}]])
def test_no_value_at_all(opened: Opened, value: object) -> None:
    with pytest.raises(UsageError, match=r"get_nothing: .* holds no value"):
        add_constant_methods(opened("xnnpack"), {"get_nothing": value})
