"""What happens when stdout does not take the answer."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import pteron

COMMAND = [sys.executable, "-m", "pteron"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full here")
@pytest.mark.parametrize("arguments", [["check"], ["inspect"], ["inspect", "--json"], ["--help"]])
def test_a_full_disk_is_one_line_and_2(counter_program: Path, arguments: list[str]) -> None:
    arguments = arguments if arguments == ["--help"] else [*arguments, str(counter_program)]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*COMMAND, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 2
    assert done.stderr == "pteron: cannot write to stdout: No space left on device\n"


def test_a_program_on_stdout_is_all_there_is(counter_program: Path) -> None:
    for arguments in (["edit", "strip", "--all"], ["edit", "rename", "forward=again"]):
        verb = [*arguments[:2], str(counter_program), *arguments[2:], "-o", "/dev/stdout"]
        done = subprocess.run([*COMMAND, *verb], capture_output=True, check=True)
        assert isinstance(pteron.open(done.stdout), pteron.PTEFile)
        assert pteron.open(done.stdout).to_bytes() == done.stdout
        assert b"bytes (" not in done.stdout[-64:]


def test_a_reader_that_left_is_no_error(counter_program: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [*COMMAND, "inspect", str(counter_program)],
        stdout=writing,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, "")
