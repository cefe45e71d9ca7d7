"""What OpenVINO refuses when it is called: one line that names the operation."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from pteron.errors import EngineError
from tests.engines.oneop import run

SIX = np.arange(6, dtype=np.float32)
ROWS = np.ones((2, 2), np.float32)
GRID = np.zeros((2, 3), np.float32)
BEYOND = 1 << 24  # a square of this many floats is more than any process can address

CASES: dict[str, tuple[str, dict[str, Any], dict[str, Any]]] = {
    "fill more than there is": ("fill", {"shape": np.int32([BEYOND] * 2)}, {"value": 3.0}),
    "fill of a negative size": ("fill", {"shape": np.int32([-2, 3])}, {"value": 3.0}),
    "reshape to another count": ("reshape", {"x": SIX, "shape": np.int32([4, 3])}, {}),
    "tile more than there is": ("tile", {"x": ROWS, "reps": np.int32([BEYOND] * 2)}, {}),
}


@pytest.mark.parametrize("case", CASES)
def test_a_call_that_fails_says_why_in_one_line(case: str) -> None:
    with pytest.raises(EngineError) as raised:
        run(*CASES[case], [GRID])
    message, cause = str(raised.value), raised.value.__cause__
    assert message.startswith("function 'main', operation 'out0': OpenVINO cannot compute it: ")
    assert "\n" not in message and "pp:" not in message and "out0@" not in message
    assert (raised.value.function, raised.value.op) == ("main", "out0")
    assert isinstance(cause, RuntimeError) and len(str(cause).splitlines()) > 1
