"""A mistyped name is answered with what may have been meant."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest

from pteron.suggestions import listed, meant
from tests.cli.conftest import Command


@pytest.mark.parametrize(
    ("arguments", "hint"),
    [
        (["inspec", "a.pte"], "did you mean 'inspect'?"),
        (["edit", "renam", "a.pte"], "did you mean 'rename'?"),
        (["cache", "verfy"], "did you mean 'verify'?"),
        (["inspect", "a.pte", "--jsn"], "Did you mean '--json'?"),
        (["lower", "m.py:build", "--backnd", "none"], "Did you mean '--backend'?"),
    ],
)
def test_commands_and_options(pteron: Command, arguments: list[str], hint: str) -> None:
    outcome = pteron(*arguments)
    assert outcome.code == 2
    assert hint in outcome.err


def test_nothing_is_made_up(pteron: Command) -> None:
    assert "mean" not in pteron("qqqq").err


def test_methods(pteron: Command, counter_program: Path, tmp_path: Path) -> None:
    for arguments in (
        ("run", counter_program, "--method", "forwrd"),
        ("edit", "drop", counter_program, "forwrd", "-o", tmp_path / "a.pte"),
        ("edit", "rename", counter_program, "forwrd=go", "-o", tmp_path / "a.pte"),
    ):
        outcome = pteron(*arguments)
        assert outcome.code == 2
        assert "(did you mean 'forward'?)" in outcome.err


def test_tensors_and_named_data(pteron: Command, corpus: Path, tmp_path: Path) -> None:
    np.save(tmp_path / "w.npy", np.zeros((3, 3), np.float32))
    arguments = (corpus / "linear-external.ptd", "liner.weight", tmp_path / "w.npy")
    outcome = pteron("edit", "replace-named", *arguments, "-o", tmp_path / "b.ptd")
    assert outcome.code == 2
    assert "(did you mean 'linear.weight'?)" in outcome.err


def test_functions_of_a_model_file(pteron: Command, tmp_path: Path) -> None:
    (tmp_path / "model.py").write_text("def build():\n    pass\n")
    outcome = pteron("lower", f"{tmp_path}/model.py:biuld", "-o", tmp_path / "a.pte")
    assert outcome.code == 2
    assert "has no function biuld (did you mean 'build'?)" in outcome.err


def test_a_model_file_takes_no_modules_place(pteron: Command, tmp_path: Path) -> None:
    (tmp_path / "json.py").write_text("")
    assert pteron("lower", f"{tmp_path}/json.py:build", "-o", tmp_path / "a.pte").code == 2
    assert sys.modules["json"] is json


def test_a_name_that_exists_is_not_suggested() -> None:
    assert meant("forward", ["forward"]) == ""


def test_long_lists_of_names_are_cut() -> None:
    assert listed([]) == "none"
    assert listed([f"n{i}" for i in range(100)]).endswith(", n11 and 88 more")
