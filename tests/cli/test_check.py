"""``pteron check`` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Command


def test_sound(pteron: Command, counter_program: Path) -> None:
    outcome = pteron("check", counter_program)
    assert (outcome.code, outcome.out) == (0, f"{counter_program}: valid\n")


def test_for_a_runtime_that_rejects_it(pteron: Command, counter_program: Path) -> None:
    outcome = pteron("check", counter_program, "--for", "executorch-macos-pip")
    assert outcome.code == 1
    first, last = outcome.out.splitlines()
    assert first.startswith("error: execution_plan[0].delegates[0].processed: has states (total)")
    assert last == f"{counter_program}: invalid for executorch-macos-pip: 1 error"


def test_for_a_runtime_that_takes_it(pteron: Command, counter_program: Path) -> None:
    outcome = pteron("check", counter_program, "--for", "executorch-ios18")
    assert outcome.code == 0
    assert outcome.out.endswith(": valid for executorch-ios18, 1 note\n")


def test_json_names_the_runtime(pteron: Command, counter_program: Path) -> None:
    outcome = pteron("check", counter_program, "--for", "executorch-1.5.1", "--json")
    assert outcome.code == 1
    answer = json.loads(outcome.out)
    assert answer["runtime"] == "executorch-1.5.1" and not answer["valid"]
    (finding,) = answer["findings"]
    assert finding["where"] == "execution_plan[0].delegates[0].id"


def test_a_mistyped_runtime(pteron: Command, counter_program: Path) -> None:
    outcome = pteron("check", counter_program, "--for", "executorch-ios8")
    assert (outcome.code, outcome.out) == (2, "")
    assert "did you mean" in outcome.err


def test_a_broken_file_is_not_asked_what_it_needs(
    pteron: Command, counter_program: Path, tmp_path: Path
) -> None:
    path = tmp_path / "cut.pte"
    path.write_bytes(counter_program.read_bytes()[:600])
    outcome = pteron("check", path, "--for", "executorch-1.5.1")
    assert outcome.code == 1
    assert "has no backend" not in outcome.out
