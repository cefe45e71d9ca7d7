"""``pteron inspect``: a page for people, JSON for programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Command


def test_the_page_names_what_is_in_the_file(pteron: Command, counter_program: Path) -> None:
    outcome = pteron("inspect", counter_program)
    assert outcome.code == 0
    for words in ("Method forward", "x: float32[1, 4]", "CoreMLBackend", "total", "delegate"):
        assert words in outcome.out
    assert "\x1b[" not in outcome.out


def test_colour_where_there_is_a_terminal(
    pteron: Command, counter_program: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    monkeypatch.delenv("NO_COLOR", raising=False)
    assert "\x1b[" in pteron("inspect", counter_program).out


def test_json(pteron: Command, counter_program: Path) -> None:
    answer = json.loads(pteron("inspect", counter_program, "--json").out)
    assert answer["bytes"] == counter_program.stat().st_size
    assert answer["states"] == [
        {
            "name": "total",
            "owner": "delegate",
            "method": "forward",
            "dtype": "float16",
            "shape": [1, 4],
            "bytes": 8,
        }
    ]
    (delegate,) = answer["delegates"]
    assert delegate["backend"] == "CoreMLBackend"
    assert delegate["payload"]["functions"][0]["operations"]["add"] == 1


@pytest.mark.parametrize(
    "name",
    [
        "add-2023.pte",
        "bundled-2023.bp",
        "dynamic-shape.pte",
        "keyword-spotting-ethos-u.pte",
        "linear-external.ptd",
        "linear-inline-constants.pte",
        "multi-method.pte",
        "stories260k-qnn.pte",
    ],
)
def test_files_that_others_made(pteron: Command, corpus: Path, name: str) -> None:
    outcome = pteron("inspect", corpus / name)
    assert (outcome.code, outcome.err) == (0, "")
    assert name in outcome.out.replace("\n", "")
    assert json.loads(pteron("inspect", corpus / name, "--json").out)["bytes"] > 0


def test_long_lists_fold_and_unfold(pteron: Command, corpus: Path) -> None:
    folded = pteron("inspect", corpus / "stories260k-qnn.pte").out
    assert "and 15 more: --all shows them" in folded
    assert "get_vocab_size" not in folded
    assert "get_vocab_size" in pteron("inspect", corpus / "stories260k-qnn.pte", "--all").out


def test_hostile_names_do_not_reach_the_terminal(pteron: Command, tmp_path: Path) -> None:
    from pteron.files import PTEFile
    from pteron.schema.program import ExecutionPlan, Program

    name = "\x1b]0;owned\x07[bold]x"
    path = tmp_path / "hostile.pte"
    PTEFile(Program(execution_plan=[ExecutionPlan(name=name)])).save(path)
    outcome = pteron("inspect", path)
    assert outcome.code == 0
    assert "\x1b" not in outcome.out
    assert "[bold]x" in outcome.out


def test_long_lines_go_on_below_their_text(
    pteron: Command, corpus: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COLUMNS", "60")
    lines = pteron("inspect", corpus / "lstm.pte").out.splitlines()
    at = next(n for n, line in enumerate(lines) if line.startswith("  inputs   input_0: "))
    assert lines[at + 1].startswith(" " * 11) and lines[at + 1][11] != " "
    assert all(len(line) <= 60 for line in lines[1:])
