"""Which steps of two files are the same."""

from __future__ import annotations

import pytest

import pteron
from pteron.errors import UsageError
from pteron.report import report
from pteron.report.compare import align
from tests.files.programs import add_program
from tests.report.made import HOSTILE, hostile_program, long_program


@pytest.mark.parametrize(
    ("ours", "theirs", "runs"),
    [
        ("", "", []),
        ("abc", "abc", [[0, 0, 3]]),
        ("abc", "abxc", [[0, 0, 2], [2, 3, 1]]),
        ("xabc", "abc", [[1, 0, 3]]),
        ("abc", "xyz", []),
        ("aab", "ab", [[0, 0, 1], [2, 1, 1]]),
        ("a-b-c", "a+b+c", [[0, 0, 1], [2, 2, 1], [4, 4, 1]]),
    ],
)
def test_align(ours, theirs, runs):
    assert align(ours, theirs) == runs


def test_long_stretches_are_not_matched_one_by_one():
    ours, theirs = "a" + "bc" * 5000 + "z", "a" + "cb" * 5000 + "z"
    assert align(ours, theirs) == [[0, 0, 1], [10001, 10001, 1]]


def test_a_step_more():
    both = report(long_program(8), long_program(9))
    assert both.data["matches"]["forward"] == [[0, 0, 8]]
    assert {"where": ["size"], "kind": "changed"}.items() <= both.data["changes"][0].items()


def test_delegates_are_compared_inside():
    data = report(hostile_program(), hostile_program()).data
    inner = [runs for name, runs in data["matches"].items() if name.startswith(f"{HOSTILE}[0]/")]
    assert inner == [[[0, 0, 3]]]


def test_the_same_file_has_no_changes():
    assert report(add_program(), add_program()).data["changes"] == []


def test_a_trace_belongs_to_one_file(tmp_path):
    with pytest.raises(UsageError, match="trace"):
        report(add_program(), add_program(), profile=tmp_path / "run.json")


def test_other_things_have_no_report():
    with pytest.raises(UsageError, match=r"pteron\.open"):
        report("model.pte")  # type: ignore[arg-type]


def test_different_kinds(corpus):
    data = report(
        pteron.open(corpus / "linear-external.ptd"), pteron.open(corpus / "add-2024.pte")
    ).data
    assert [change["where"] for change in data["changes"]] == [["size"], ["kind"]]
