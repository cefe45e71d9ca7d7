"""Edits leave their input alone, and what they give outlives it."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import pytest

import pteron
from pteron import edit
from pteron.errors import UsageError
from tests.edit.proof import assert_equal, content, program, proven, run
from tests.edit.test_hostile import EDITS
from tests.files.made import Made, X

Maker = Callable[[str], Made]


@pytest.mark.parametrize("name", EDITS)
def test_the_input_stays_as_it_was(made: Maker, name: str) -> None:
    for kind in ("multi_method", "mutable", "xnnpack", "with_stacktraces"):
        file, other = program(made(kind).pte), program(made("portable").pte)
        held = content(file)
        with suppress(UsageError):  # not every edit suits every program
            EDITS[name](file, other)
        assert content(file) == held
        assert file.to_bytes() == made(kind).pte
        assert other.to_bytes() == made("portable").pte


def test_the_result_outlives_its_sources(made: Maker, tmp_path: Path) -> None:
    one, other = tmp_path / "one.pte", tmp_path / "other.pte"
    one.write_bytes(made("xnnpack").pte)
    other.write_bytes(made("with_stacktraces").pte)
    with pteron.open(one) as first, pteron.open(other) as second:
        assert isinstance(first, pteron.PTEFile) and isinstance(second, pteron.PTEFile)
        merged = edit.merge(first, edit.rename(second, {"forward": "other"}))
    merged.save(one)  # over a file that it still has views of
    data = proven(merged)
    assert one.read_bytes() == data
    assert_equal(run(data, [X]), run(made("xnnpack").pte, [X]))
    assert_equal(run(data, [X], "other"), run(made("with_stacktraces").pte, [X]))
