"""Ctrl-C at the begin and at the end of every stage of a command: exit 130, and nothing is left."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from pteron.progress import Stage, watch
from tests.cli.conftest import Command

Moment = tuple[str, bool]
"""A stage's name, and whether it is its end."""


def moment(stage: Stage) -> Moment:
    return stage.name, stage.ended


class Place:
    """A directory of inputs and outputs, one for temporary files, and one for the cache."""

    def __init__(self, root: Path, program: Path, patch: pytest.MonkeyPatch) -> None:
        self.work, self.scratch, self.cache = (root / n for n in ("work", "scratch", "cache"))
        self.work.mkdir()
        self.scratch.mkdir()
        shutil.copy(program, self.work / "m.pte")
        np.savez(self.work / "x.npz", x=np.ones((1, 4), np.float32))
        patch.setattr(tempfile, "tempdir", str(self.scratch))
        patch.setenv("PTERON_CACHE_DIR", str(self.cache))
        patch.chdir(self.work)

    def files(self) -> list[str]:
        """Everything there is, but for the cache."""
        return sorted(map(str, (*self.work.rglob("*"), *self.scratch.rglob("*"))))


@pytest.fixture
def place(tmp_path: Path, counter_program: Path, monkeypatch: pytest.MonkeyPatch) -> Place:
    return Place(tmp_path, counter_program, monkeypatch)


def interrupted_everywhere(pteron: Command, place: Place, command: str) -> Iterator[None]:
    """Run a command to its end, then again and again with an interrupt at each of its moments."""
    before = place.files()
    seen: list[Moment] = []
    with watch(lambda stage: seen.append(moment(stage))):
        outcome = pteron(*command.split())
    assert outcome.code == 0, outcome.err
    outputs = set(place.files()) - set(before)
    assert seen
    for wanted in dict.fromkeys(seen):
        for path in sorted(outputs, reverse=True):
            shutil.rmtree(path) if Path(path).is_dir() else Path(path).unlink(missing_ok=True)
        shutil.rmtree(place.cache, ignore_errors=True)

        def interrupt(stage: Stage, wanted: Moment = wanted) -> None:
            if moment(stage) == wanted:
                raise KeyboardInterrupt

        with watch(interrupt):
            outcome = pteron(*command.split())
        assert outcome.code == 130, wanted
        left = set(place.files()) - set(before)
        # when the last file is written it is there, whole; nothing else may be
        assert left <= (outputs if wanted == seen[-1] else set()), (wanted, left)
        yield


@pytest.mark.parametrize(
    "command",
    [
        "bundle m.pte x.npz --run -o m.bpte",
        "edit rename m.pte forward=go -o n.pte",
        "edit add-constant-method m.pte get_max=128 -o n.pte",
        "extract m.pte -o parts",
        "run m.pte --inputs x.npz --outputs y.npz --no-cache",
    ],
)
def test_nothing_is_left(pteron: Command, place: Place, command: str) -> None:
    assert list(interrupted_everywhere(pteron, place, command))


def test_of_two_files_neither_is_left(pteron: Command, place: Place, corpus: Path) -> None:
    shutil.copy(corpus / "linear-inline-constants.pte", place.work / "m.pte")
    command = "edit externalise m.pte -o n.pte --data n.ptd"
    assert list(interrupted_everywhere(pteron, place, command))


def test_the_cache_holds_nothing_half(pteron: Command, place: Place) -> None:
    for _ in interrupted_everywhere(pteron, place, "run m.pte --inputs x.npz"):
        assert not [path for path in place.cache.glob("temp/*") if path.is_dir()]
        assert pteron("cache", "verify").code == 0


@pytest.mark.slow
def test_lowering_leaves_nothing(pteron: Command, place: Place) -> None:
    (place.work / "counter.py").write_text(
        "from examples.counter import build as _build\ndef build():\n    return _build()\n"
    )
    assert list(interrupted_everywhere(pteron, place, "lower counter.py:build -o n.pte"))
