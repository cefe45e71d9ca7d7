"""What the command's exit code says."""

from __future__ import annotations

import pytest

from tests.cli.conftest import Command


def test_help_and_version_are_no_errors(pteron: Command) -> None:
    assert pteron("--help").code == 0
    assert pteron("--version").out.startswith("pteron ")
    assert pteron("edit", "merge", "-h").code == 0


@pytest.mark.parametrize(
    "arguments", [["inspec"], ["inspect"], ["inspect", "a", "--what"], ["edit"]]
)
def test_wrong_usage_is_2(pteron: Command, arguments: list[str]) -> None:
    outcome = pteron(*arguments)
    assert (outcome.code, outcome.out) == (2, "")
    assert outcome.err


def test_an_interrupt_is_130(pteron: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupt(*_: object) -> None:
        raise KeyboardInterrupt

    import pteron as package

    monkeypatch.setattr(package, "open", interrupt)
    outcome = pteron("inspect", "a.pte")
    assert outcome.code == 130
    assert "interrupted" in outcome.err
