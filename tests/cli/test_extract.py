"""``pteron extract`` as a user calls it."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Command


def test_everything_to_a_new_directory(pteron: Command, counter_program: Path, tmp_path: Path):
    out = tmp_path / "out"
    outcome = pteron("extract", counter_program, "-o", out)
    assert (outcome.code, outcome.err) == (0, "")
    assert (out / "program.json").is_file()
    assert (out / "payloads/forward-0/model.mlpackage/Manifest.json").is_file()
    assert outcome.out.startswith(f"{out}: payloads, program.json")


def test_only_what_is_asked_for(pteron: Command, counter_program: Path, tmp_path: Path):
    outcome = pteron("extract", counter_program, "-o", tmp_path / "out", "--only", "program")
    assert outcome.code == 0
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["program.json"]


def test_an_existing_directory_is_refused(pteron: Command, counter_program: Path, tmp_path: Path):
    (tmp_path / "kept").touch()
    outcome = pteron("extract", counter_program, "-o", tmp_path)
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert "exists already" in outcome.err
    assert [path.name for path in tmp_path.iterdir()] == ["kept"]


def test_bad_input_leaves_nothing(pteron: Command, tmp_path: Path):
    bad = tmp_path / "bad.pte"
    bad.write_text("this is no program")
    outcome = pteron("extract", bad, "-o", tmp_path / "out")
    assert outcome.code == 2
    assert outcome.err.count("\n") == 1
    assert [path.name for path in tmp_path.iterdir()] == ["bad.pte"]
