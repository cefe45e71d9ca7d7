"""Arrays by name become the inputs of a method."""

from __future__ import annotations

import numpy as np
import pytest

from pteron.errors import UsageError
from pteron.runtime.named_inputs import named_inputs
from pteron.runtime.signature import Parameter

A = Parameter("a", np.dtype(np.float32), (2,), (2,))
N = Parameter("n", None, kind="int")


def test_a_number_comes_from_an_array_of_one() -> None:
    given = named_inputs({"a": np.zeros(2, "f"), "n": np.array([7])}, [A, N], "x.npz")
    assert given["n"] == 7


def test_order_is_that_of_the_parameters() -> None:
    given = named_inputs({"n": np.array(7), "a": np.zeros(2, "f")}, [A, N], "x.npz")
    assert list(given) == ["a", "n"]


def test_a_single_array_serves_a_single_input() -> None:
    assert list(named_inputs({"whatever": np.zeros(2, "f")}, [A], "x.npz")) == ["a"]


def test_wrong_keys() -> None:
    with pytest.raises(UsageError, match=r"x.npz holds a, b; the inputs are a, n"):
        named_inputs({"a": np.zeros(2), "b": np.zeros(2)}, [A, N], "x.npz")
