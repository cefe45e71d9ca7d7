"""Arrays by name become the inputs of a method."""

from __future__ import annotations

import numpy as np
import pytest

from pteron.engines.base import Default, ValueInfo
from pteron.errors import UsageError
from pteron.runtime.feature_parameter import FeatureParameter
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


def test_numpys_own_names_are_positions() -> None:
    arrays = {"arr_1": np.array(7), "arr_0": np.zeros(2, "f")}
    given = named_inputs(arrays, [A, N], "x.npz")
    assert given["a"].shape == (2,)
    assert given["n"] == 7


def test_inputs_that_bear_such_names_are_meant_by_name() -> None:
    parameters = [Parameter(f"arr_{i}", np.dtype(np.float32), (2,), (2,)) for i in (1, 0)]
    arrays = {"arr_0": np.zeros(2, "f"), "arr_1": np.ones(2, "f")}
    assert named_inputs(arrays, parameters, "x.npz")["arr_1"].all()


def test_what_has_a_default_may_be_missing() -> None:
    info = ValueInfo("bias", "float32", (2,), default=Default(0, (2,)))
    parameters = [A, FeatureParameter.of(info)]
    assert list(named_inputs({"a": np.zeros(2, "f")}, parameters, "x.npz")) == ["a"]
    with pytest.raises(UsageError, match=r"the inputs are a, bias \(may be left out\)"):
        named_inputs({"bias": np.zeros(2, "f")}, parameters, "x.npz")
