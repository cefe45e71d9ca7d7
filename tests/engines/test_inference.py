"""Inputs are read where they are, however they lie in memory, and belong to the caller."""

from __future__ import annotations

import gc

import numpy as np
import pytest

from tests.engines.converted import compile_source, mil_program

VALUES = np.arange(12, dtype=np.float32).reshape(3, 4)


@pytest.fixture(scope="module")
def session():
    from coremltools.converters.mil import Builder as mb  # noqa: N813

    def program(x, y):
        return mb.identity(x=x), mb.sub(x=x, y=y)

    inputs = {"x": ("float32", (3, 4)), "y": ("float32", (1,))}
    return compile_source(mil_program(program, inputs)).new_session()


def _read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    "x",
    [
        VALUES.copy(),
        _read_only(VALUES.copy()),
        np.asfortranarray(VALUES),
        np.repeat(VALUES, 2, axis=1)[:, ::2],
        np.frombuffer(VALUES.tobytes(), np.float32).reshape(3, 4),
        np.frombuffer(b"\0" + VALUES.tobytes(), np.float32, offset=1).reshape(3, 4),
    ],
    ids=["plain", "read-only", "transposed", "strided", "of bytes", "unaligned"],
)
def test_any_memory_may_be_given(session, x: np.ndarray) -> None:
    one = np.ones(1, np.float32)
    same, less = session.run("main", [x, one])
    np.testing.assert_array_equal(same, VALUES)
    np.testing.assert_array_equal(less, VALUES - 1)
    np.testing.assert_array_equal(x, VALUES)


def test_outputs_stay_when_inputs_go_and_other_calls_come(session) -> None:
    x, one = VALUES.copy(), np.ones(1, np.float32)
    same, less = session.run("main", [x, one])
    x[:] = 100
    del x
    gc.collect()
    session.run("main", [np.zeros((3, 4), np.float32), one])
    np.testing.assert_array_equal(same, VALUES)
    np.testing.assert_array_equal(less, VALUES - 1)


def test_large_inputs_and_outputs() -> None:
    from coremltools.converters.mil import Builder as mb  # noqa: N813

    def program(x, y):
        return mb.sub(x=x, y=y)

    source = mil_program(program, {"x": ("float32", (300, 100)), "y": ("float32", (1,))})
    large = compile_source(source).new_session()
    x = np.arange(30000, dtype=np.float32).reshape(300, 100)
    for given in (x, _read_only(x.copy()), np.asfortranarray(x)):
        (one,) = large.run("main", [given, np.ones(1, np.float32)])
        large.run("main", [np.zeros_like(x), np.ones(1, np.float32)])
        np.testing.assert_array_equal(one, x - 1)


def test_values_broadcast_from_one_number(session) -> None:
    x = np.broadcast_to(np.float32(3), (3, 4))
    _, less = session.run("main", [x, np.ones(1, np.float32)])
    np.testing.assert_array_equal(less, np.full((3, 4), 2, np.float32))
