"""Bad input: one line on stderr that says what is wrong, exit 2, no traceback."""

from __future__ import annotations

import struct
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import Command


def empty(directory: Path, program: bytes) -> Path:
    path = directory / "empty.pte"
    path.write_bytes(b"")
    return path


def text(directory: Path, program: bytes) -> Path:
    path = directory / "text.pte"
    path.write_text("this is not a program\n" * 10)
    return path


def truncated(directory: Path, program: bytes) -> Path:
    path = directory / "truncated.pte"
    path.write_bytes(program[: len(program) // 2])
    return path


def segment_past_the_end(directory: Path, program: bytes) -> Path:
    """The extended header's segment base offset (u64 at byte 24) moved far away."""
    path = directory / "segment.pte"
    assert program[8:12] == b"eh00"
    path.write_bytes(program[:24] + struct.pack("<Q", 1 << 40) + program[32:])
    return path


def directory_itself(directory: Path, program: bytes) -> Path:
    return directory


def missing(directory: Path, program: bytes) -> Path:
    return directory / "missing.pte"


CASES = [empty, text, truncated, segment_past_the_end, directory_itself, missing]


@pytest.mark.parametrize("verb", ["inspect", "run"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: case.__name__)
def test_one_line_and_exit_2(
    pteron: Command,
    counter_program: Path,
    tmp_path: Path,
    verb: str,
    case: Callable[[Path, bytes], Path],
) -> None:
    bad = case(tmp_path, counter_program.read_bytes())
    outcome = pteron(verb, bad)
    assert outcome.code == 2
    assert outcome.out == ""
    assert outcome.err.startswith("pteron: ")
    assert outcome.err.count("\n") == 1
    assert "Traceback" not in outcome.err


def test_an_empty_path_is_called_empty(pteron: Command) -> None:
    outcome = pteron("inspect", "")
    assert (outcome.code, outcome.out) == (2, "")
    assert "the path is empty" in outcome.err
