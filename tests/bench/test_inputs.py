"""Made-up inputs fit the signature they are made from."""

from __future__ import annotations

from threading import Lock

import numpy as np
import pytest

from pteron.bench.inputs import random_inputs
from pteron.errors import UsageError
from pteron.runtime.method import Method
from pteron.runtime.signature import UNBOUNDED, Parameter


def method(*inputs: Parameter) -> Method:
    return Method("forward", inputs, [], lambda values: values, Lock())


def test_every_kind_of_input_is_taken() -> None:
    made = method(
        Parameter("x", np.dtype(np.float16), (2, 8), (2, 1)),
        Parameter("tokens", np.dtype(np.int64), (1, UNBOUNDED), (1, 0)),
        Parameter("flag", np.dtype(np.bool_), (3,), (3,)),
        Parameter("count", None, kind="int"),
    )
    inputs = random_inputs(made)
    assert inputs["x"].shape == (2, 8)
    assert inputs["x"].any()
    assert inputs["tokens"].shape == (1, 1)
    made(**inputs)


def test_the_same_inputs_every_time() -> None:
    made = method(Parameter("x", np.dtype(np.float32), (4,), (4,)))
    np.testing.assert_array_equal(random_inputs(made)["x"], random_inputs(made)["x"])


def test_text_cannot_be_made_up() -> None:
    with pytest.raises(UsageError, match="'name'"):
        random_inputs(method(Parameter("name", None, kind="str")))
