"""What a caller may choose, and what is said when it cannot be done."""

from __future__ import annotations

import pytest
import torch
from torch import Tensor, nn

import pteron
from pteron.errors import LoweringError, UsageError
from pteron.lowering import CoreML, lower
from pteron.progress import Stage, watch

from . import zoo

X = (torch.randn(2, 3),)


class TwoBuffers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("k_cache", torch.zeros(2, 3))
        self.register_buffer("total", torch.zeros(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        self.k_cache.copy_(x)
        self.total.add_(torch.sigmoid(x))
        return self.total + self.k_cache


def owners(file: pteron.files.PTEFile) -> dict[str, str]:
    return {name: r.owner.value for name, r in file.lowering_report.state.buffers.items()}


@pytest.mark.parametrize(
    ("take_over", "taken"),
    [
        (True, {"k_cache", "total"}),
        (False, set()),
        (["*_cache"], {"k_cache"}),
        (["total"], {"total"}),
        (lambda name: name.startswith("t"), {"total"}),
    ],
)
def test_take_over(take_over, taken):
    file = lower(TwoBuffers(), X, take_over_mutable_buffers=take_over)
    assert {name for name, owner in owners(file).items() if owner == "delegate"} == taken


def test_take_over_names_a_mutable_buffer():
    said = r"'totals' matches no mutable buffer \(did you mean 'total'\?\); they are k_cache, total"
    with pytest.raises(UsageError, match=said):
        lower(TwoBuffers(), X, take_over_mutable_buffers=["totals"])
    with pytest.raises(UsageError, match=r"'nope' matches no mutable buffer.*k_cache, total"):
        lower(TwoBuffers(), X, take_over_mutable_buffers=["total", "nope"])
    with pytest.raises(UsageError, match="the model has none"):
        lower(nn.Linear(3, 3), X, take_over_mutable_buffers="nope")


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        ({"backend": "coreml"}, r"backend='coreml': must be pteron\.CoreML"),
        ({"example_inputs": X[0]}, r"tuple of positional inputs, not Tensor; write \(x,\)"),
        ({"example_inputs": None}, "tuple of positional inputs, not NoneType"),
        ({"example_kwargs": [1]}, "keyword inputs must be a mapping.*not list"),
        ({"take_over_mutable_buffers": 3}, "take_over_mutable_buffers=3: must be a list of names"),
        ({"take_over_mutable_buffers": [3]}, "must be a list of names"),
        ({"exclude": "aten.add.*"}, "exclude='aten.add.*': must be a list of names or globs"),
        ({"whole_graph": "yes"}, "whole_graph='yes': must be True or False"),
        ({"model": {}}, "mapping of methods is empty"),
    ],
)
def test_arguments_of_the_wrong_type_are_refused(wrong, said):
    with pytest.raises(UsageError, match=said):
        lower(**{"model": TwoBuffers(), "example_inputs": X, **wrong})


def test_on_inexact():
    assert set(owners(lower(TwoBuffers(), X, on_inexact="keep")).values()) == {"program"}
    with pytest.raises(LoweringError, match=r"buffer k_cache is float32.*on_inexact='cast'"):
        lower(TwoBuffers(), X, on_inexact="error")
    half = zoo.build("HalfBuffer")
    assert owners(lower(half, X, on_inexact="error")) == {"b": "delegate"}
    with pytest.raises(UsageError, match="on_inexact='maybe'"):
        lower(TwoBuffers(), X, on_inexact="maybe")


def test_no_state_before_ios_18():
    report = lower(TwoBuffers(), X, backend=CoreML("iOS17")).lowering_report
    assert "no state before iOS 18" in report.state.buffers["total"].reason


@pytest.mark.parametrize(
    "wrong",
    [{"minimum_deployment_target": "iOS9"}, {"compute_precision": "int8"}, {"compute_units": "x"}],
)
def test_options_are_checked(wrong):
    with pytest.raises(UsageError, match="must be one of"):
        CoreML(**wrong)


def test_exclude_keeps_an_operator_with_the_program():
    file = lower(TwoBuffers(), X, exclude=["aten.sigmoid.*"])
    (plan,) = file.program.execution_plan
    assert [f"{o.name}.{o.overload}" for o in plan.operators] == ["aten::sigmoid.out"]
    assert set(owners(file).values()) == {"delegate"}


def test_an_excluded_read_keeps_the_buffer_with_the_program():
    reason = (
        lower(TwoBuffers(), X, exclude=["aten.add.*"]).lowering_report.state.buffers["total"].reason
    )
    assert "aten.add.Tensor" in reason
    assert "test_choices.py" in reason
    assert "self.total.add_(torch.sigmoid(x))" in reason


def test_whole_graph_names_every_blocking_operation_with_its_line():
    with pytest.raises(LoweringError) as caught:
        lower(zoo.build("CustomMutatingOp"), X, whole_graph=True)
    message = str(caught.value)
    assert "auto_functionalized_v2" in message
    assert "zoo.py" in message


def test_a_model_that_cannot_be_exported_says_why():
    class DataDependent(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x if x.sum() > 0 else -x

    with pytest.raises(LoweringError, match=r"torch\.export cannot export the model"):
        lower(DataDependent(), X)


@pytest.mark.parametrize("wrong", [3, {"forward": 3}, {"forward": (nn.Linear(3, 3),)}])
def test_what_is_no_model_is_refused(wrong):
    with pytest.raises(UsageError):
        lower(wrong, X)


def test_progress_names_the_stages():
    seen: list[Stage] = []
    with watch(seen.append):
        lower(TwoBuffers(), X)
    assert list(dict.fromkeys(stage.name for stage in seen)) == [
        "export forward",
        "decompose forward",
        "plan forward",
        "convert forward 0",
        "emit",
    ]
    assert [stage.name for stage in seen if stage.ended][-1] == "emit"
    steps = [stage for stage in seen if stage.total]
    assert all(0 <= stage.done < stage.total for stage in steps) and steps


def test_lowering_is_silent(capfd):
    lower(TwoBuffers(), X)
    out, err = capfd.readouterr()
    assert (out, err) == ("", "")
