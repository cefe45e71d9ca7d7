"""What the report says of each buffer, to people and to programs."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
from torch import Tensor, nn

from pteron.lowering import lower
from pteron.lowering.first_values import in_words

from . import zoo

X = (torch.randn(2, 3),)


class Several(nn.Module):
    """Buffers written several times, through a view, by a loop's body, and never."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(2, 3))
        self.register_buffer("steps", torch.full((1,), 3, dtype=torch.int64))
        self.register_buffer("scale", torch.tensor([1.0, -2.0, 0.5]))

    def forward(self, x: Tensor) -> Tensor:
        self.total.mul_(0.5)
        self.total[0].copy_(x[1])
        self.steps += 1
        return torch.sigmoid(self.total * self.scale) + self.steps


def accesses(record: dict[str, object], kind: str) -> list[tuple[str, str]]:
    """Operation and source text of each."""
    found = record[kind]
    assert isinstance(found, list)
    return [(a["op"], a["line"].rpartition(": ")[2]) for a in found]


def buffers(*, exclude: tuple[str, ...] = ()) -> dict[str, dict[str, object]]:
    report = lower(Several(), X, exclude=exclude).lowering_report
    return {record["name"]: record for record in json.loads(report.to_json())["buffers"]}


def test_every_write_and_read_of_a_buffer_is_listed():
    total = buffers()["total"]
    assert accesses(total, "writes") == [
        ("aten.mul_.Tensor", "self.total.mul_(0.5)"),
        ("aten.copy_.default", "self.total[0].copy_(x[1])"),
    ]
    assert accesses(total, "reads") == [
        ("aten.mul_.Tensor", "self.total.mul_(0.5)"),
        ("aten.mul.Tensor", "return torch.sigmoid(self.total * self.scale) + self.steps"),
    ]
    (write, _) = total["writes"]
    assert write["method"] == "forward" and f"{Path(__file__)}:" in write["line"]


def test_first_value_dtype_owner_partitions_and_cause():
    found = buffers()
    assert {name: r["first"] for name, r in found.items()} == {
        "total": "zero",
        "steps": "3 everywhere",
        "scale": "from -2 to 1",
    }
    assert {name: r["owner"] for name, r in found.items()} == {
        "total": "delegate",
        "steps": "program",
        "scale": "constant",
    }
    assert found["total"]["dtype"] == "float32" and found["total"]["stored_dtype"] == "float16"
    assert {name: r["partitions"] for name, r in found.items()} == {
        name: ["forward: delegate 0"] for name in found
    }
    assert found["total"]["cause"] is None
    apart = buffers(exclude=("aten.mul.Tensor",))["total"]
    assert apart["owner"] == "program"
    assert apart["cause"]["op"] == "aten.mul.Tensor"
    assert "self.total" in apart["cause"]["line"]
    assert apart["cause"]["line"] in apart["reason"]
    assert apart["partitions"] == ["forward: delegate 0, program"]


def test_writes_inside_branches_are_listed():
    report = lower(zoo.build("WriteInsideBothBranches"), X, backend=None).lowering_report
    records = report.state.buffers
    assert [a.op for a in records["b"].writes] == ["aten.copy_.default", "aten.mul_.Tensor"]
    assert "torch.cond(x.sum() > 0, one, other, (x,))" in records["b"].writes[0].line


def test_a_functional_program_tells_its_last_write():
    program = torch.export.export(Several(), X).run_decompositions()
    (write,) = lower(program, (), backend=None).lowering_report.state.buffers["total"].writes
    assert write.op.startswith("aten.") and "self.total[0].copy_(x[1])" in write.line


def test_table():
    *table, runtimes = str(lower(Several(), X).lowering_report).splitlines()
    assert table[0].split() == ["buffer", "type", "first", "value", "owner", "reason"]
    assert table[1].startswith("total   float32 2x3  zero          delegate  every read and write")
    assert table[2].startswith("  updated by aten.mul_.Tensor at ")
    assert table[3].startswith("  written by aten.copy_.default at ")
    assert table[4].startswith("  read by aten.mul.Tensor at ")
    assert table[5] == "  in forward: delegate 0"
    assert table[6].startswith("steps   int64 1      3 everywhere  program   Core ML state cannot")
    assert table[-2] == "never written: scale"
    assert table[-1].startswith("forward: delegate 0 (CoreMLBackend)")
    assert table[-1].endswith(" bytes, 1 state")
    bound, _, not_bound = runtimes.partition(", not by ")
    assert "executorch-ios18" in bound and "executorch-macos-pip" in not_bound


def test_buffers_of_many_layers_share_a_row():
    table = str(lower(zoo.build("NestedModules"), X, backend=None).lowering_report)
    assert "layers.0.total to layers.1.total (2)  float32 2x3" in table


def test_only_constants_make_no_table():
    text = str(lower(zoo.build("NeverWritten"), X, backend=None).lowering_report)
    assert text == "never written: b"


def test_report_names_what_shares_memory():
    report = lower(zoo.build("BufferIsViewOfAnother"), X, backend=None).lowering_report
    assert {name: r.aliases for name, r in report.state.buffers.items()} == {"whole": ["row"]}
    assert "also named row" in str(report)


@pytest.mark.parametrize(
    ("tensor", "words"),
    [
        (torch.zeros(2), "zero"),
        (torch.zeros(0), "empty"),
        (torch.full((2,), 0.1), "0.1 everywhere"),
        (torch.tensor([True, False]), "from False to True"),
        (torch.tensor(7), "7 everywhere"),
        (torch.tensor([1.0, float("nan")]), "NaN in it"),
        (torch.tensor([1.0, 2.0], dtype=torch.bfloat16), "from 1 to 2"),
    ],
)
def test_first_values_in_words(tensor, words):
    assert in_words(tensor) == words
