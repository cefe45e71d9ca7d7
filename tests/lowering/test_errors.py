"""What torch and coremltools raise for a model is one LoweringError that says where."""

from __future__ import annotations

from typing import Any

import pytest
import torch
from torch import Tensor, nn

from pteron.errors import LoweringError
from pteron.lowering import CoreML, decompose, lower
from pteron.lowering.coreml import convert, payload
from pteron.lowering.emit.calls import Calls

X = (torch.randn(2, 3),)


class Scaled(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.sigmoid(x) * 2


class Mismatch(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x @ x


class Spectrum(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.fft.fft(x).real


class Positive(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return x[x > 0]


def test_an_error_of_the_model_names_its_line(capfd):
    with pytest.raises(
        LoweringError,
        match=r"torch\.export cannot .*reduction dim.*test_errors\.py:\d+.*x @ x",
    ) as caught:
        lower(Mismatch(), X)
    assert isinstance(caught.value.__cause__, RuntimeError)
    assert capfd.readouterr() == ("", "")


def test_what_a_program_cannot_hold_names_operation_and_line():
    with pytest.raises(LoweringError, match=r"_fft_\w+.*test_errors\.py:\d+.*complex64"):
        lower(Spectrum(), X, backend=None)


def test_an_assignment_inside_a_branch_tells_the_way_out():
    class Assigning(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("b", torch.zeros(2, 3))

        def forward(self, x: Tensor) -> Tensor:
            def changed(x: Tensor) -> Tensor:
                self.b = self.b + x
                return x * 2

            return torch.cond(x.sum() > 0, changed, lambda x: x - 1, (x,)) + self.b

    with pytest.raises(LoweringError, match=r"self\.b\.copy_\(value\).*torch\.cond") as caught:
        lower(Assigning(), X)
    assert "Hint" not in str(caught.value)


def test_a_complex_buffer_names_its_dtype():
    class Complex(nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("b", torch.zeros(2, 3, dtype=torch.complex64))

        def forward(self, x: Tensor) -> Tensor:
            self.b.add_(x)
            return x * 2

    with pytest.raises(LoweringError, match="complex64"):
        lower(Complex(), X)


def test_a_pass_of_coremltools_that_fails_names_operation_line_and_way_out(monkeypatch):
    from coremltools.converters.mil.mil.passes.graph_pass import AbstractGraphPass
    from coremltools.converters.mil.mil.passes.pass_registry import PASS_REGISTRY

    class Failing(AbstractGraphPass):
        def apply(self, program: Any) -> None:
            for op in program.functions["main"].operations:
                if op.op_type == "sigmoid":
                    raise ValueError(f"{op.op_type} is not for me")

    monkeypatch.setitem(PASS_REGISTRY.passes, "common::dead_code_elimination", Failing())
    with pytest.raises(
        LoweringError,
        match=r"at aten\.sigmoid.*\(\S+test_errors\.py:\d+ in forward.*sigmoid is not for me; "
        r"keep that with the program \(exclude=\['aten\.sigmoid\.default'",
    ):
        lower(Scaled(), X)


@pytest.mark.parametrize("backend", [None, CoreML()])
def test_a_size_that_depends_on_data_is_the_programs(backend):
    file = lower(Positive(), X, backend=backend)
    assert "aten::index" in {operator.name for operator in file.program.execution_plan[0].operators}


@pytest.mark.parametrize(
    ("module", "function", "said"),
    [
        (torch.export, "export", r"torch\.export cannot export the model: OSError: broken"),
        (decompose, "functional", "torch cannot decompose method forward: OSError: broken"),
        (payload, "payload", "cannot convert delegate 0 of method forward: OSError: broken"),
        (convert, "records", "cannot convert .*: OSError: broken"),
        (Calls, "_delegate", "a program cannot express an operation: OSError: broken"),
    ],
)
@pytest.mark.parametrize("raised", [OSError("broken"), KeyboardInterrupt()])
def test_each_stage_explains_errors_and_passes_interrupts(
    monkeypatch, module, function, said, raised
):
    def fail(*_: object, **__: object) -> None:
        raise raised

    monkeypatch.setattr(module, function, fail)
    if isinstance(raised, KeyboardInterrupt):
        with pytest.raises(KeyboardInterrupt):
            lower(Scaled(), X)
        return
    with pytest.raises(LoweringError, match=said) as caught:
        lower(Scaled(), X)
    assert caught.value.__cause__ is raised
