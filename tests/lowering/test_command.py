"""``pteron lower`` from the shell."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

import pteron
from pteron.cli.interrupts import Interrupts
from pteron.progress import stage, watch

MODEL = """
import torch
class Counter(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.register_buffer("total", torch.zeros(2, 3))
    def forward(self, x):
        self.total.add_(x)
        return self.total * 2
def build():
    return Counter(), (torch.ones(2, 3),)
def with_options():
    return Counter(), (torch.ones(2, 3),), {"take_over_mutable_buffers": False}
def broken():
    raise RuntimeError("no weights here")
def wrong():
    return 3
def bogus():
    return Counter(), (torch.ones(2, 3),), {"bogus": 1}
def no_dict():
    return Counter(), (torch.ones(2, 3),), 5
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "counter.py"
    path.write_text(MODEL)
    return path


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "pteron", "lower", *map(str, arguments)]


def listen_to_interrupts() -> None:
    """In the child: where the tests run in the background, interrupts come ignored."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    return subprocess.run(command(*arguments), capture_output=True, text=True, check=False)


def test_writes_a_program_and_prints_the_report(model, tmp_path):
    done = run(f"{model}:build", "-o", tmp_path / "m.pte", "--json")
    assert done.returncode == 0, done.stderr
    (buffer,) = json.loads(done.stdout)["buffers"]
    assert (buffer["name"], buffer["owner"]) == ("total", "delegate")
    assert done.stderr == ""
    with pteron.open(tmp_path / "m.pte") as file:
        assert [d.backend_id for d in file.delegates] == ["CoreMLBackend"]


@pytest.mark.slow
def test_the_functions_own_options_count(model, tmp_path):
    done = run(f"{model}:with_options", "-o", tmp_path / "m.pte", "--backend", "none")
    assert done.returncode == 0, done.stderr
    assert "program" in done.stdout
    assert "no backend was asked for" in done.stdout


@pytest.mark.parametrize(
    ("reference", "said"),
    [
        ("{model}", "name a function as PATH.py:FUNCTION"),
        ("missing.py:build", "missing.py: no such file"),
        ("{model}:absent", "has no function absent"),
        ("{model}:broken", "RuntimeError: no weights here"),
        ("{model}:wrong", "must return (model, inputs)"),
        ("{model}:bogus", "no option 'bogus'; known: example_kwargs, backend,"),
        ("{model}:no_dict", "options must be a dict, not int"),
    ],
)
def test_what_cannot_be_lowered_is_one_line(model, tmp_path, reference, said):
    done = run(reference.format(model=model), "-o", tmp_path / "m.pte")
    assert done.returncode == 2
    assert said in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert not (tmp_path / "m.pte").exists()


def test_an_interrupt_that_a_library_swallows_is_raised_once_more():
    before = signal.getsignal(signal.SIGINT)  # ignored, where the tests run in the background
    signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        with pytest.raises(KeyboardInterrupt), Interrupts() as interrupts:
            with contextlib.suppress(KeyboardInterrupt):
                signal.raise_signal(signal.SIGINT)
            with pytest.raises(KeyboardInterrupt), watch(interrupts), stage("next"):
                pass
        assert signal.getsignal(signal.SIGINT) is signal.default_int_handler
    finally:
        signal.signal(signal.SIGINT, before)


def test_a_background_job_goes_on_ignoring_interrupts():
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        with Interrupts():
            signal.raise_signal(signal.SIGINT)
    finally:
        signal.signal(signal.SIGINT, before)


INTERRUPTED = """
import os, signal, time
from pteron.lowering.coreml import convert
def in_the_middle(mil, options, progress, directory):
    (directory / "weight.bin").write_bytes(b"half of it")
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(60)
def interrupted():
    convert._to_proto = in_the_middle
    return build()
"""


def test_interrupting_leaves_no_files(model, tmp_path):
    model.write_text(MODEL + INTERRUPTED)
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    done = subprocess.run(
        command(f"{model}:interrupted", "-o", tmp_path / "m.pte"),
        env={**os.environ, "TMPDIR": str(scratch)},
        capture_output=True,
        text=True,
        check=False,
        preexec_fn=listen_to_interrupts,
    )
    assert done.returncode == 130, done.stderr
    assert "Traceback" not in done.stderr
    assert sorted(p.name for p in tmp_path.iterdir() if p != scratch) == ["counter.py"]
    assert not list(scratch.glob("pteron-*"))
