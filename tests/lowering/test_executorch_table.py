"""The stored outcomes behind docs/executorch.md: complete, on the page, and still true."""

from __future__ import annotations

import pytest

from . import executorch_table as table
from . import zoo


@pytest.mark.parametrize("kind", table.KINDS)
def test_every_case_has_an_outcome(kind: str) -> None:
    assert table.stored(kind).keys() == zoo.ZOO.keys()


def test_the_page_shows_them() -> None:
    page = table.PAGE.read_text()
    assert table.written(page) == page


def test_pteron_is_right_wherever_there_are_kernels() -> None:
    assert set(table.stored("pteron").values()) == {table.RIGHT}
    others = {n: r for n, r in table.stored("undelegated").items() if r != table.RIGHT}
    assert others == {
        "CustomMutatingOp": "cannot run: LookupError: no kernel for pteron_zoo::accumulate"
    }


@pytest.mark.parametrize(
    ("kind", "name"),
    [
        ("undelegated", "CustomMutatingOp"),
        ("executorch", "AddInPlace"),
        ("executorch", "NonZeroFirstValue"),
        ("executorch", "ShiftRegister"),
        pytest.param("executorch", "AttentionKVCache", marks=pytest.mark.slow),
        pytest.param("executorch", "Int32Counter", marks=pytest.mark.slow),
        pytest.param("executorch", "AssignedView", marks=pytest.mark.slow),
    ],
)
def test_outcomes_are_as_stored(kind: str, name: str) -> None:
    assert table.KINDS[kind](name) == table.stored(kind)[name]
