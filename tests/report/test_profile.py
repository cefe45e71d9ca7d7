"""Traces, added up."""

from __future__ import annotations

import json

import pytest

from pteron.errors import FileAccessError, FormatError
from pteron.report.profile import add_up, read_profile


def event(category: str, duration: object, name: str = "x", **arguments: object) -> dict:
    return {"name": name, "cat": category, "ph": "X", "ts": 0, "dur": duration, "args": arguments}


def method(name: str, steps: str = "kkkk", ops: tuple[str, ...] | None = None) -> dict:
    """A collected method: ``k`` is a kernel call, ``d`` the call of its delegate."""
    kinds = {"k": "kernel", "d": "delegate"}
    inside = {} if ops is None else {"functions": [{"ops": [{"n": [op]} for op in ops]}]}
    return {"name": name, "run": {"steps": [[kinds[s]] for s in steps]}, "delegates": [inside]}


FORWARD = method("forward", "kd", ("linear_0", "cast_0"))


def test_times_go_to_their_places():
    events = [
        event("kernel", 2, method="forward", instruction=0, delegate=None, op=None),
        event("kernel", 4, method="forward", instruction=0),
        event("delegate", 100, method="forward", instruction=1, delegate=0),
        event("op", 30.5, method="forward", instruction=1, delegate=0, op="linear_0"),
        event("op", 1, name="Reorder", method="forward", instruction=1, delegate=0, op=None),
        event("kernel", 7, name="elsewhere", method="other", instruction=0),
    ]
    assert add_up(events, [FORWARD, method("prefill")]) == {
        "methods": {
            "forward": {"0": [6.0, 2], "1": [100.0, 1], "0/linear_0": [30.5, 1]},
            "prefill": {},
        },
        "elsewhere": {"Reorder": [1.0, 1], "elsewhere": [7.0, 1]},
    }


def test_operations_are_counted_as_calls_of_their_delegate():
    """One was timed in one call of four, the other in two pieces each time."""
    where = {"method": "forward", "instruction": 1, "delegate": 0}
    calls = [event("delegate", 50, **where)] * 4
    pieces = [event("op", 2, op="linear_0", **where)] * 8
    times = add_up([*calls, *pieces, event("op", 1, op="cast_0", **where)], [FORWARD])
    forward = times["methods"]["forward"]
    assert forward == {"1": [200.0, 4], "0/linear_0": [16.0, 4], "0/cast_0": [1.0, 4]}


@pytest.mark.parametrize(
    "other",
    [
        event("delegate", 1, instruction=0, delegate=0),
        event("kernel", 1, instruction=1),
        event("kernel", 1, instruction=2),
        event("op", 1, delegate=0, op="conv_0"),
        event("op", 1, delegate=1, op="linear_0"),
    ],
    ids=["no delegate", "no kernel", "no instruction", "no operation", "no such delegate"],
)
def test_what_the_program_has_not_is_elsewhere(other):
    assert add_up([other], [FORWARD]) == {"methods": {"forward": {}}, "elsewhere": {"x": [1.0, 1]}}


def test_operations_of_a_closed_delegate_are_taken_at_their_word():
    times = add_up([event("op", 3, delegate=0, op="Convolution")], [method("forward", "d")])
    assert times["methods"] == {"forward": {"0/Convolution": [3.0, 1]}}


def test_a_method_that_cannot_be_drawn_has_no_places():
    broken = {"name": "forward", "run": {"error": "absurd"}, "delegates": []}
    assert add_up([event("kernel", 2, instruction=0)], [broken])["elsewhere"] == {"x": [2.0, 1]}


def test_the_only_method_needs_no_name():
    times = add_up([event("kernel", 2, instruction=3)], [method("forward")])
    assert times["methods"] == {"forward": {"3": [2.0, 1]}}
    two = [method("a"), method("b")]
    assert add_up([event("kernel", 2, instruction=3)], two)["elsewhere"] == {"x": [2.0, 1]}


@pytest.mark.parametrize("duration", [None, "3", -1, 10**400, float("nan"), float("inf")])
def test_events_without_a_duration_count_nothing(duration):
    times = add_up([event("kernel", duration, instruction=0)], [method("forward")])
    assert times == {"methods": {"forward": {}}, "elsewhere": {}}


@pytest.mark.parametrize("instruction", [None, "0", -1, 1.5, True])
def test_an_instruction_is_a_number(instruction):
    times = add_up([event("kernel", 1, instruction=instruction)], [method("forward")])
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
