"""Values that a state takes, rounds or refuses; every dtype, and odd arrays."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

from pteron.errors import PteronError, StateError
from pteron.runtime.program_state import ProgramState
from pteron.runtime.turns import new_turns


def state(dtype: Any, shape: tuple[int, ...] = (2, 3)) -> ProgramState:
    return ProgramState("s", np.zeros(shape, dtype), new_turns())


ROWS = [[1, 2, 3], [4, 5, 6]]


@pytest.mark.parametrize(
    "dtype",
    [
        np.uint8,
        np.int16,
        np.int64,
        np.float16,
        np.float64,
        ml_dtypes.bfloat16,
        ml_dtypes.float8_e4m3fn,
    ],
)
@pytest.mark.parametrize(
    "value",
    [
        ROWS,
        np.array(ROWS),
        np.array(ROWS, ">i4"),
        np.asfortranarray(np.array(ROWS, np.uint8)),
        np.array([[9, *row] for row in ROWS])[:, 1:],
    ],
    ids=["lists", "int64", "big endian", "fortran", "strided"],
)
def test_whole_numbers_go_into_any_dtype(dtype: Any, value: Any) -> None:
    entry = state(dtype)
    entry.write(value)
    assert entry.read().dtype == dtype
    assert entry.read().astype(np.float64).tolist() == ROWS


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (np.uint8, 256),
        (np.uint8, -1),
        (np.int8, 128),
        (np.int32, 2**31),
        (np.int64, np.uint64(2**63)),
        (np.float16, 65520.0),
        (np.float16, 10**6),
        (np.float32, 1e39),
        (ml_dtypes.bfloat16, 3.4e38),
    ],
)
def test_what_is_too_large_is_refused(dtype: Any, value: Any) -> None:
    entry = state(dtype, (1,))
    entry.write([1])
    with pytest.raises(StateError, match="a value is too large"):
        entry.write([value])
    assert entry.read().tolist() == [1]


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (np.int64, [1.0]),
        (np.int64, [2**70]),
        (np.bool_, [1]),
        (np.float32, [1j]),
        (np.float32, np.array(["1"])),
        (np.float32, np.array([None])),
        (np.float32, np.array([(1.0,)], dtype=[("a", "f4")])),
        (np.float32, [[1.0], [1.0, 2.0]]),
        (np.float32, []),
        (np.float32, 1.0),
        (np.float32, "1"),
        (np.float32, None),
        (np.float32, {"a": 1}),
    ],
)
def test_what_is_no_such_array_is_refused(dtype: Any, value: Any) -> None:
    entry = state(dtype, (1,))
    with pytest.raises(PteronError, match="state 's'"):
        entry.write(value)
    assert not entry.read().any()


def test_what_is_not_finite_is_kept() -> None:
    entry = state(np.float16, (3,))
    entry.write(np.array([np.inf, -np.inf, np.nan]))
    np.testing.assert_array_equal(entry.read(), np.array([np.inf, -np.inf, np.nan], np.float16))


def test_a_rank_0_state_takes_a_number() -> None:
    entry = state(np.int64, ())
    entry.write(7)
    assert (entry.read().shape, int(entry.read())) == ((), 7)


def test_a_state_written_with_its_own_value_and_changed_arrays_after_the_write() -> None:
    entry = state(np.float32)
    value = np.ones((2, 3), np.float32)
    entry.write(value)
    value[:] = 9
    entry.read()[:] = 5
    assert (entry.read() == 1).all()
