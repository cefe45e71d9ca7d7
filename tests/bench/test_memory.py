"""Peak memory and bandwidth, as far as a test may ask without a clock."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from pteron.bench.bandwidth import read_bandwidth
from pteron.bench.memory import peak_growth

MEGABYTE = 1 << 20


def test_a_peak_that_is_over_counts() -> None:
    with peak_growth() as growth:
        np.ones(64 * MEGABYTE, np.uint8)
    assert growth.bytes is None or growth.bytes >= 60 * MEGABYTE


def test_unknown_where_the_system_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pteron.bench.memory._CLEAR", Path("/nowhere/clear_refs"))
    with peak_growth() as growth:
        pass
    assert growth.bytes is None


def test_bandwidth_is_positive(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pteron.bench.bandwidth.BYTES", MEGABYTE)
    assert read_bandwidth(1) > 0
    assert read_bandwidth() > 0
