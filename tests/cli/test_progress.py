"""Progress: bars on a terminal, for what lasts; nothing elsewhere."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr
from pathlib import Path

import pytest

from pteron.cli import bars, verbosity
from pteron.cli.bars import Bars
from pteron.lowering.quiet import quiet
from pteron.progress import stage, watch
from tests.cli.conftest import Command


class Terminal(io.StringIO):
    """What is written to a terminal."""

    def isatty(self) -> bool:
        return True


@pytest.fixture
def terminal(monkeypatch: pytest.MonkeyPatch) -> Terminal:
    monkeypatch.setenv("TERM", "xterm")
    verbosity.show_messages()
    return Terminal()


@contextmanager
def watched(terminal: Terminal, delay: float = 0) -> Iterator[Bars]:
    with redirect_stderr(terminal), Bars(delay) as shown, watch(shown):
        yield shown


def test_a_stage_that_lasts_is_shown(terminal: Terminal) -> None:
    with watched(terminal) as shown, stage("compile main", 4) as report:
        report.advance(3)
        shown._start()
    assert "compile main" in terminal.getvalue()
    assert "3/4" in terminal.getvalue()


def test_bytes_are_shown_as_such(terminal: Terminal) -> None:
    with watched(terminal) as shown, stage("upload", 3_000_000, "bytes") as report:
        report.advance(1_500_000)
        shown._start()
    assert "1.5 MB/3.0 MB" in terminal.getvalue()


def test_a_quick_stage_is_not(terminal: Terminal) -> None:
    with watched(terminal, delay=3600), stage("compile main"):
        pass
    assert terminal.getvalue() == ""


def test_a_quick_stage_beside_a_long_one_is_not(terminal: Terminal) -> None:
    with watched(terminal, delay=3600) as shown, stage("the long one"):
        (task,) = shown._bars.tasks
        task.start_time -= 7200
        with stage("the quick one"):
            shown._start()
    assert "the long one" in terminal.getvalue()
    assert "the quick one" not in terminal.getvalue()


def test_hostile_names_do_not_reach_the_terminal(terminal: Terminal) -> None:
    with watched(terminal) as shown, stage("\x1b]0;owned\x07[bold]x"):
        shown._start()
    assert "\x1b]0" not in terminal.getvalue()
    assert "[bold]x" in terminal.getvalue()


def test_nothing_with_q(terminal: Terminal) -> None:
    logging.getLogger("pteron").setLevel(logging.ERROR)
    with watched(terminal) as shown, stage("compile main"):
        shown._start()
    assert terminal.getvalue() == ""


def test_stages_of_lowering_are_shown(terminal: Terminal) -> None:
    """Lowering disables logging, as the libraries beneath it say what helps nobody."""
    with watched(terminal) as shown, quiet(), stage("decompose forward"):
        shown._start()
    assert "decompose forward" in terminal.getvalue()


def test_nothing_where_stderr_is_no_terminal(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("FORCE_COLOR", "1")
    with Bars(delay=0) as shown, watch(shown), stage("compile main"):
        shown._start()
    assert capsys.readouterr().err == ""


def test_the_cursor_comes_back_after_an_interrupt(terminal: Terminal) -> None:
    with pytest.raises(KeyboardInterrupt), watched(terminal) as shown, stage("compile"):
        shown._start()
        raise KeyboardInterrupt
    assert terminal.getvalue().rindex("\x1b[?25h") > terminal.getvalue().rindex("\x1b[?25l")


@pytest.mark.parametrize("arguments", [["-v", "run", "{}"], ["run", "-v", "{}"]])
def test_v_says_what_is_done(
    pteron: Command, counter_program: Path, tmp_path: Path, arguments: list[str]
) -> None:
    inputs = tmp_path / "x.npz"
    import numpy as np

    np.savez(inputs, x=np.ones((1, 4), np.float32))
    words = [word.format(counter_program) for word in arguments]
    outcome = pteron(*words, "--inputs", inputs, "--no-cache")
    assert outcome.code == 0
    lines = outcome.err.splitlines()
    for stage_name in ("read x.npz", "read payload", "translate main", "compile main", "run"):
        assert f"pteron: {stage_name}" in lines
    assert any(line.startswith("pteron: CoreMLBackend payload, openvino") for line in lines)


@pytest.mark.parametrize(
    "arguments", [["-q", "cache", "list"], ["cache", "-q", "list"], ["cache", "list", "-q"]]
)
def test_q_and_v_stand_anywhere(pteron: Command, tmp_path: Path, arguments: list[str]) -> None:
    assert pteron(*arguments, "--directory", tmp_path / "none").code == 0
    assert not logging.getLogger("pteron").isEnabledFor(logging.WARNING)


def test_one_call_does_not_set_the_level_of_the_next(pteron: Command) -> None:
    pteron("-q", "cache", "path")
    pteron("cache", "path")
    assert logging.getLogger("pteron").isEnabledFor(logging.WARNING)
    assert bars.DELAY == 1.0
