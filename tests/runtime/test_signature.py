"""What a method accepts, and how it says what it does not."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from pteron.errors import UsageError
from pteron.runtime.signature import UNBOUNDED, Parameter, bind

F32 = np.dtype(np.float32)
X = Parameter("x", F32, (2, 3), (2, 3))
N = Parameter("n", None, kind="int")
FLEXIBLE = Parameter("t", np.dtype(np.int64), (1, 8), (1, 1))
OPEN = Parameter("o", F32, (UNBOUNDED,), (1,))


def test_by_position_and_by_name() -> None:
    x = np.zeros((2, 3), np.float32)
    assert bind([X, N], (x, 4), {}, "m")[1] == 4
    assert bind([X, N], (), {"n": 4, "x": x}, "m")[0] is x


def test_a_torch_tensor_is_taken_without_copying() -> None:
    tensor = torch.zeros(2, 3, requires_grad=True)
    (array,) = bind([X], (tensor,), {}, "m")
    assert array.ctypes.data == tensor.data_ptr()


@pytest.mark.parametrize("order", "<>")
def test_bytes_may_come_in_either_order(order: str) -> None:
    values = np.arange(6).reshape(2, 3).astype(f"{order}f4")
    (array,) = bind([X], (values,), {}, "m")
    assert array.dtype == F32
    np.testing.assert_array_equal(array, values)


def test_nested_lists_take_the_expected_dtype() -> None:
    (array,) = bind([FLEXIBLE], ([[1, 2, 3]],), {}, "m")
    assert array.dtype == np.int64
    assert array.shape == (1, 3)


@pytest.mark.parametrize(
    ("parameters", "args", "kwargs", "message"),
    [
        ([X], (), {}, "input 'x' is missing; it takes (x: float32[2, 3])"),
        ([X], (1, 2), {}, "takes (x: float32[2, 3]), got 2 arguments"),
        ([X], (1,), {"x": 2}, "input 'x' was given twice"),
        ([X], (), {"y": 2}, "no input 'y'; it takes (x: float32[2, 3])"),
        ([X], (np.zeros((2, 3)),), {}, "expected x: float32[2, 3], got float64[2, 3]"),
        ([X], (np.zeros((3, 2), "f"),), {}, "expected x: float32[2, 3], got float32[3, 2]"),
        ([FLEXIBLE], (np.zeros((1, 9), int),), {}, "expected t: int64[1, 1..8], got int64[1, 9]"),
        ([OPEN], (np.zeros((0,), "f"),), {}, "expected o: float32[1..], got float32[0]"),
        ([X], (object(),), {}, "expected an array, got object"),
        ([X], ("text",), {}, "expected an array, got str"),
        ([N], (1.5,), {}, "expected int, got float"),
    ],
)
def test_what_does_not_fit_is_told(
    parameters: list[Parameter], args: tuple[object, ...], kwargs: dict[str, object], message: str
) -> None:
    with pytest.raises(UsageError) as caught:
        bind(parameters, args, kwargs, "method 'm'")
    assert message in str(caught.value)
    assert str(caught.value).startswith("method 'm'")
