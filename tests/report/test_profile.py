"""Traces, added up."""

from __future__ import annotations

import json

import pytest

from pteron.errors import FileAccessError, FormatError
from pteron.report.profile import add_up, read_profile


def event(category: str, duration: object, name: str = "x", **arguments: object) -> dict:
    return {"name": name, "cat": category, "ph": "X", "ts": 0, "dur": duration, "args": arguments}


def test_times_go_to_their_places():
    events = [
        event("kernel", 2, method="forward", instruction=0, delegate=None, op=None),
        event("kernel", 4, method="forward", instruction=0),
        event("delegate", 100, method="forward", instruction=1, delegate=0),
        event("op", 30.5, method="forward", instruction=1, delegate=0, op="linear_0"),
        event("op", 1, name="Reorder", method="forward", instruction=1, delegate=0, op=None),
        event("kernel", 7, name="elsewhere", method="other", instruction=0),
    ]
    assert add_up(events, ["forward", "prefill"]) == {
        "methods": {
            "forward": {"0": [6.0, 2], "1": [100.0, 1], "0/linear_0": [30.5, 1]},
            "prefill": {},
        },
        "elsewhere": {"Reorder": [1.0, 1], "elsewhere": [7.0, 1]},
    }


def test_the_only_method_needs_no_name():
    times = add_up([event("kernel", 2, instruction=3)], ["forward"])
    assert times["methods"] == {"forward": {"3": [2.0, 1]}}
    assert add_up([event("kernel", 2, instruction=3)], ["a", "b"])["elsewhere"] == {"x": [2.0, 1]}


@pytest.mark.parametrize("duration", [None, "3", -1, 10**400, float("nan"), float("inf")])
def test_events_without_a_duration_count_nothing(duration):
    times = add_up([event("kernel", duration, instruction=0)], ["forward"])
    assert times == {"methods": {"forward": {}}, "elsewhere": {}}


@pytest.mark.parametrize("instruction", [None, "0", -1, 1.5, True])
def test_an_instruction_is_a_number(instruction):
    times = add_up([event("kernel", 1, instruction=instruction)], ["forward"])
    assert times["elsewhere"] == {"x": [1.0, 1]}


def test_both_forms_of_the_file(tmp_path):
    events = [event("kernel", 1, instruction=0)]
    for content in (events, {"traceEvents": events}):
        (tmp_path / "run.json").write_text(json.dumps(content))
        assert read_profile(tmp_path / "run.json") == events


@pytest.mark.parametrize("text", ["", "{", "3", '{"events": []}', "[" * 100_000, "\x00"])
def test_other_files_are_refused(tmp_path, text):
    path = tmp_path / "run.json"
    path.write_text(text)
    with pytest.raises(FormatError, match=r"run\.json"):
        read_profile(path)


def test_a_missing_trace(tmp_path):
    with pytest.raises(FileAccessError, match=r"none\.json"):
        read_profile(tmp_path / "none.json")
