"""The lowering report of a file, and the trace of a run, from beginning to end."""

from __future__ import annotations

import json

import pytest

import pteron
from pteron.files import NamedBlob, PTEFile
from pteron.files.lowering_record import LOWERING_KEY
from pteron.report import report
from pteron.report.lowered import lowered
from pteron.schema.program import Program
from tests.files.programs import add_plan, add_program, float_tensor
from tests.report.made import HOSTILE


def carrying(content: bytes) -> PTEFile:
    values = [float_tensor(0), float_tensor(16), float_tensor(32), float_tensor(48)]
    program = Program(execution_plan=[add_plan(values, [0, 1])])
    return PTEFile(program=program, named_data={LOWERING_KEY: NamedBlob(content)})


def test_most_files_carry_none():
    assert lowered(add_program()) is None


def test_what_a_file_carries():
    access = {"method": "forward", "op": "aten.add_", "line": "model.py:7"}
    buffer = {"name": "k", "dtype": "float32", "shape": [1, 4], "owner": "program"}
    content = {"buffers": [buffer | {"reason": "because", "reads": [], "writes": [access]}]}
    file = pteron.open(carrying(json.dumps(content).encode()).to_bytes())
    assert lowered(file) == {
        "buffers": [
            {
                "name": "k",
                "dtype": "float32",
                "shape": ["1", "4"],
                "owner": "program",
                "reason": "because",
                "reads": [],
                "writes": [{"op": "aten.add_", "line": "model.py:7"}],
            }
        ]
    }


@pytest.mark.parametrize(
    "content",
    [b"", b"\xff", b"[1]", b"[" * 100_000, b'{"buffers": 3}', b'{"buffers": [3, {"shape": {}}]}'],
)
def test_other_content_does_no_harm(content):
    (file,) = report(carrying(content)).data["files"]
    assert "error" in file["lowering"] or isinstance(file["lowering"]["buffers"], list)


def test_words_are_kept_as_text():
    buffer = {"name": [HOSTILE], "owner": {"a": 1}, "reads": [HOSTILE], "shape": [HOSTILE]}
    (shown,) = lowered(carrying(json.dumps({"buffers": [buffer]}).encode()))["buffers"]
    assert shown["name"] == str([HOSTILE]) and shown["owner"] == "{'a': 1}"
    assert shown["shape"] == [HOSTILE] and shown["reads"] == [{"op": "", "line": ""}]


@pytest.mark.slow
def test_from_the_model_to_the_report(tmp_path):
    """A counter: lowered with its history, measured, drawn."""
    from examples.counter import build
    from pteron.bench import Options, benchmark, chrome_trace

    model, inputs = build()
    path = tmp_path / "counter.pte"
    pteron.lower(model, inputs, debug_frames=True).save(path)
    _, spans = benchmark(path, Options(warmup=1, repeat=2))
    (tmp_path / "run.json").write_text(json.dumps(chrome_trace(spans)))
    data = report(pteron.open(path), profile=tmp_path / "run.json").data
    (file,) = data["files"]
    (buffer,) = (one for one in file["lowering"]["buffers"] if one["name"] == "total")
    assert buffer["owner"] == "delegate" and buffer["writes"]
    times = data["times"]["methods"]["forward"]
    assert times["0"][0] > 0  # the delegate
    (delegate,) = file["methods"][0]["delegates"]
    known = {f"0/{name}" for op in delegate["functions"][0]["ops"] for name in op["n"]}
    assert known & times.keys()  # operations inside it, under the names of the payload
