"""Shell completion: the scripts, and what they are answered."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.conftest import Command

SHELLS = ["bash", "zsh", "fish"]
_ANSWERS = {
    "bash": ("plain,inspect", "plain,--json"),
    "zsh": ("plain\ninspect\nShow what is in a file.", "plain\n--json\n"),
    "fish": ("plain,inspect\tShow what is in a file.", "plain,--json\t"),
}


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_asks_the_command(pteron: Command, shell: str) -> None:
    outcome = pteron("completion", shell)
    assert outcome.code == 0
    assert f"_PTERON_COMPLETE={shell}_complete" in outcome.out
    assert "pteron" in outcome.out


@pytest.mark.parametrize("shell", SHELLS)
def test_the_script_is_one_of_its_shell(pteron: Command, shell: str, tmp_path: Path) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"there is no {shell} here")
    script = tmp_path / "script"
    script.write_text(pteron("completion", shell).out)
    done = subprocess.run([program, "-n", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("shell", SHELLS)
def test_commands_and_options_are_completed(
    pteron: Command, shell: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, option = _ANSWERS[shell]
    monkeypatch.setenv("_PTERON_COMPLETE", f"{shell}_complete")
    fish = shell == "fish"  # it gives the word itself where the others give its number
    for words, number, expected in (
        ("pteron insp", "insp" if fish else "1", command),
        ("pteron inspect --js", "--js" if fish else "2", option),
    ):
        monkeypatch.setenv("COMP_WORDS", words)
        monkeypatch.setenv("COMP_CWORD", number)
        assert expected in pteron().out


def test_bash_completes(tmp_path: Path, pteron: Command) -> None:
    """The script in a real bash, with the command on the path."""
    bash = shutil.which("bash")
    if bash is None:
        pytest.skip("there is no bash here")
    command = tmp_path / "pteron"
    command.write_text(f'#!/bin/sh\nexec {sys.executable} -m pteron "$@"\n')
    command.chmod(0o755)
    script = pteron("completion", "bash").out
    words = "COMP_WORDS=(pteron edit ren) COMP_CWORD=2"
    asking = f'{words}; _pteron_completion pteron; echo "${{COMPREPLY[@]}}"'
    done = subprocess.run(
        [bash, "-c", f"PATH={tmp_path}:$PATH\n{script}\n{asking}"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "rename\n", done.stderr


def test_an_unknown_shell_is_wrong_usage(pteron: Command) -> None:
    outcome = pteron("completion", "tcsh")
    assert outcome.code == 2
    assert "bash" in outcome.err
