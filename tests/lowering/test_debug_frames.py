"""Where in the model each instruction comes from, stored on request and read back."""

from __future__ import annotations

from pathlib import Path

import torch
from executorch.exir._serialize._program import deserialize_pte_binary
from torch import Tensor, nn

import pteron
from pteron.files.summary import summarise
from pteron.lowering import lower

from .reference import ExecuTorchProgram

X = (torch.randn(2, 3),)


class Branching(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        y = torch.sigmoid(x)
        z = torch.cond(y.sum() > 1, lambda y: y * 2, lambda y: y - 1, (y,))
        return z + x


def test_each_instruction_tells_its_line_to_executorch_and_to_pteron():
    data = lower(Branching(), X, backend=None, debug_frames=True).to_bytes()
    (chain,) = deserialize_pte_binary(data).program.execution_plan[0].chains
    assert len(chain.stacktrace) == len(chain.instructions)
    first = chain.stacktrace[0].items[-1]
    assert (first.filename, first.name) == (__file__, "forward")
    assert first.context == "y = torch.sigmoid(x)"
    assert Path(__file__).read_text().splitlines()[first.lineno - 1].strip() == first.context

    method = pteron.open(data).methods["forward"]
    assert len(method.source_lines) == len(chain.instructions)
    assert method.source_lines[0] == f"{__file__}:{first.lineno} in forward: {first.context}"
    assert method.source_lines[-1].endswith("return z + x")
    (summary,) = summarise(pteron.open(data))["methods"]
    assert summary["source_lines"] == method.source_lines


def test_executorch_runs_a_program_with_frames():
    file = lower(Branching(), X, backend=None, debug_frames=True)
    torch.testing.assert_close(ExecuTorchProgram(file).run(*X), [Branching()(*X)])


def test_a_delegates_call_stands_for_many_lines():
    file = lower(Branching(), X, exclude=["aten.sigmoid.*"], debug_frames=True)
    lines = dict(zip(_calls(file), file.methods["forward"].source_lines, strict=True))
    assert lines["DelegateCall"] == ""
    assert lines["KernelCall"]


def test_without_the_request_there_are_none():
    file = lower(Branching(), X, backend=None)
    assert file.program.execution_plan[0].chains[0].stacktrace is None
    assert file.methods["forward"].source_lines == []


def _calls(file: pteron.files.PTEFile) -> list[str]:
    (chain,) = file.program.execution_plan[0].chains
    return [type(step.instr_args).__name__ for step in chain.instructions]
