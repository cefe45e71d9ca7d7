"""``pteron.progress``: how Python code watches long work."""

from __future__ import annotations

import threading
from pathlib import Path

import pytest

import pteron
from pteron.progress import Stage, stage, steps, transferred, watch


def test_a_stage_begins_advances_and_ends() -> None:
    seen: list[Stage] = []
    with watch(seen.append), stage("upload", 8, "bytes") as report:
        report.advance(2)
        report.advance(4)
    assert [(s.name, s.done, s.fraction, s.ended) for s in seen] == [
        ("upload", 0, 0.0, False),
        ("upload", 2, 0.25, False),
        ("upload", 4, 0.5, False),
        ("upload", 4, 0.5, True),
    ]
    assert len({s.key for s in seen}) == 1


def test_a_failed_stage_ends_too() -> None:
    seen: list[Stage] = []
    with pytest.raises(ValueError), watch(seen.append), stage("read"):
        raise ValueError
    assert seen[-1].ended


def test_nobody_needs_to_watch() -> None:
    with stage("read") as report:
        report.advance(1)
    seen: list[Stage] = []
    with watch(seen.append):
        pass
    with stage("read"):
        pass
    assert seen == []


def test_several_watch() -> None:
    one: list[str] = []
    other: list[str] = []
    with watch(lambda s: one.append(s.name)), watch(lambda s: other.append(s.name)), stage("read"):
        pass
    assert one == other == ["read", "read"]


def test_a_watcher_can_cancel() -> None:
    def cancel(stage: Stage) -> None:
        if stage.done == 2:
            raise KeyboardInterrupt

    done: list[int] = []
    with pytest.raises(KeyboardInterrupt), watch(cancel):
        done.extend(steps("run", range(5)))
    assert done == [0, 1]


def test_threads_do_not_hear_of_each_other() -> None:
    seen: list[Stage] = []
    with watch(seen.append):
        thread = threading.Thread(target=lambda: list(steps("run", range(3))))
        thread.start()
        thread.join()
    assert seen == []


def test_what_another_thread_takes_is_counted() -> None:
    """An object store's client takes the chunks of an upload in a thread of its own."""
    seen: list[Stage] = []
    with watch(seen.append):
        chunks = transferred("upload", [b"abc", b"de"], 5)
        first = next(chunks)
        thread = threading.Thread(target=lambda: list(chunks))
        thread.start()
        thread.join()
    assert first == b"abc"
    assert [(s.done, s.ended) for s in seen] == [(0, False), (3, False), (5, False), (5, True)]


def test_loading_and_saving_report(counter_program: Path, tmp_path: Path) -> None:
    names: list[str] = []
    with watch(lambda s: names.append(s.name)):
        pteron.load(counter_program, cache=None).close()
        pteron.open(counter_program).save(tmp_path / "copy.pte")
    expected = ["read payload", "translate main", "compile main", f"write {tmp_path}/copy.pte"]
    assert list(dict.fromkeys(names)) == expected
