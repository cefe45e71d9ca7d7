"""``pteron diff`` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

from pteron.files import NamedBlob, PTEFile
from pteron.schema.program import Program
from tests.cli.conftest import Command


def named(path: Path, key: str, data: bytes) -> Path:
    PTEFile(program=Program(), named_data={key: NamedBlob(data)}).save(path)
    return path


def test_the_same_file_exits_0(pteron: Command, counter_program: Path):
    outcome = pteron("diff", counter_program, counter_program)
    assert (outcome.code, outcome.out) == (0, "the same\n")
    answer = json.loads(pteron("diff", counter_program, counter_program, "--json").out)
    assert answer == {"same": True, "changes": []}


def test_a_difference_exits_1_and_is_named(pteron: Command, tmp_path: Path):
    one = named(tmp_path / "one.pte", "weight", b"\1\2\3")
    other = named(tmp_path / "other.pte", "weight", b"\1\2\7")
    outcome = pteron("diff", one, other)
    assert outcome.code == 1
    assert "weight: bytes[3], 1 of 3 differ, by 4 at most" in outcome.out
    answer = json.loads(pteron("diff", one, other, "--json").out)
    assert answer["same"] is False
    (change,) = answer["changes"]
    assert change["where"] == ["named_data", "weight"]
    assert change["distance"]["max_abs"] == 4


def test_what_cannot_be_read_exits_2(pteron: Command, counter_program: Path, tmp_path: Path):
    bad = tmp_path / "bad.pte"
    bad.write_text("this is no program")
    for arguments in ((bad, counter_program), (counter_program, tmp_path / "missing.pte")):
        outcome = pteron("diff", *arguments)
        assert outcome.code == 2
        assert outcome.err.count("\n") == 1


def test_hostile_names_stay_on_their_line(pteron: Command, tmp_path: Path):
    one = named(tmp_path / "one.pte", "a", b"1")
    other = named(tmp_path / "other.pte", "two\nlines\x1b[31m", b"1")
    out = pteron("diff", one, other).out
    assert "\x1b" not in out
    assert "+ two lines" in out


def test_a_damaged_file_is_named(pteron: Command, counter_program: Path, tmp_path: Path):
    bad = tmp_path / "bad.pte"
    bad.write_bytes(counter_program.read_bytes()[:-64])
    for files in ((bad, counter_program), (counter_program, bad)):
        for verb in (["diff", *files], ["edit", "merge", *files, "-o", tmp_path / "out.pte"]):
            outcome = pteron(*verb)
            assert outcome.code == 2
            assert outcome.err.startswith(f"pteron: {bad}: header: ")
