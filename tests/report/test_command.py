"""``pteron report``."""

from __future__ import annotations

import json

from tests.cli.conftest import Command, pteron  # noqa: F401 - a fixture
from tests.files.programs import add_program


def test_writes_a_page(pteron: Command, tmp_path, monkeypatch):  # noqa: F811
    monkeypatch.chdir(tmp_path)
    add_program().save("a.pte")
    assert pteron("report", "a.pte") == (0, "report.html\n", "")
    assert (tmp_path / "report.html").read_text("utf-8").startswith("<!doctype html>")
    assert pteron("report", "a.pte", "a.pte", "-o", "two.html").code == 0
    (tmp_path / "run.json").write_text(json.dumps({"traceEvents": []}))
    code, _, err = pteron("report", "a.pte", "--profile", "run.json", "-o", "run.html")
    assert code == 0 and "run.json has no event of this program" in err
    assert '"times":' in (tmp_path / "run.html").read_text("utf-8")


def test_replaces_no_input(pteron: Command, tmp_path):  # noqa: F811
    path = tmp_path / "a.pte"
    add_program().save(path)
    before = path.read_bytes()
    code, out, err = pteron("report", path, "-o", tmp_path / "." / "a.pte")
    assert (code, out) == (2, "") and "another file" in err
    assert path.read_bytes() == before


def test_bad_input(pteron: Command, tmp_path):  # noqa: F811
    (tmp_path / "bad.pte").write_bytes(b"no program at all")
    for arguments in (["bad.pte"], ["none.pte"], ["bad.pte", "none.pte"]):
        paths = [tmp_path / argument for argument in arguments]
        code, out, err = pteron("report", *paths, "-o", tmp_path / "r.html")
        assert (code, out) == (2, "") and err.startswith("pteron: ")
    assert not (tmp_path / "r.html").exists()


def test_a_trace_of_something_else(pteron: Command, tmp_path):  # noqa: F811
    add_program().save(tmp_path / "a.pte")
    (tmp_path / "run.json").write_text("{}")
    code, _, err = pteron(
        "report", tmp_path / "a.pte", "--profile", tmp_path / "run.json", "-o", tmp_path / "r.html"
    )
    assert code == 2 and "pteron bench --trace" in err
