"""What holds for every command, those of groups included."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import click
import pytest

from pteron.cli.app import app
from tests.cli.conftest import Command


def commands(group: click.Group, *path: str) -> Iterator[tuple[str, ...]]:
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        assert command is not None
        yield (*path, name)
        if isinstance(command, click.Group):
            yield from commands(command, *path, name)


ALL = list(commands(app))


@pytest.mark.parametrize("path", ALL, ids=" ".join)
def test_it_takes_q_and_v_and_has_help_that_fits(
    pteron: Command, monkeypatch: pytest.MonkeyPatch, path: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    outcome = pteron(*path, "--help")
    assert outcome.code == 0
    assert "-q, --quiet" in outcome.out and "-v, --verbose" in outcome.out
    assert all(len(line) <= 80 for line in outcome.out.splitlines())


@pytest.mark.parametrize("group", [(), *(p for p in ALL if p in {("edit",), ("cache",)})])
def test_no_one_liner_is_cut(
    pteron: Command, monkeypatch: pytest.MonkeyPatch, group: tuple[str, ...]
) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    listed = pteron(*group, "--help").out.partition("Commands:")[2]
    assert listed
    assert "..." not in listed


def test_python_m_pteron() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pteron", "--version"], capture_output=True, text=True, check=True
    )
    assert done.stdout.startswith("pteron ")
