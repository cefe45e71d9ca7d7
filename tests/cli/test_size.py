"""``pteron size`` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

from tests.cli.conftest import Command


def total(node: dict) -> int:
    for child in node["children"]:
        total(child)
    assert not node["children"] or sum(c["bytes"] for c in node["children"]) == node["bytes"]
    return node["bytes"]


def test_json_sums_to_the_file(pteron: Command, counter_program: Path):
    outcome = pteron("size", counter_program, "--json")
    assert outcome.code == 0
    assert total(json.loads(outcome.out)) == counter_program.stat().st_size


def test_depth_limits_both_forms(pteron: Command, counter_program: Path):
    tree = json.loads(pteron("size", counter_program, "--json", "--depth", 1).out)
    assert tree["children"]
    assert all(not child["children"] for child in tree["children"])
    text = pteron("size", counter_program, "--depth", 0).out
    assert text.split()[:2] == [f"{counter_program.stat().st_size:,}", "100.0%"]
    assert "delegate" not in text


def test_people_see_the_payload(pteron: Command, counter_program: Path):
    out = pteron("size", counter_program).out
    assert "forward: delegate 0 (CoreMLBackend)" in out
    assert "model.mlpackage/Manifest.json" in out.replace("\n", "").replace(" ", "")


def test_hostile_names_stay_on_their_line(pteron: Command, tmp_path: Path):
    from pteron.files import NamedBlob, PTEFile
    from pteron.schema.program import Program

    path = tmp_path / "named.pte"
    named = {"two\nlines\x1b[31m": NamedBlob(b"1234")}
    PTEFile(program=Program(), named_data=named).save(path)
    out = pteron("size", path).out
    assert "\x1b" not in out
    assert "two lines" in out
