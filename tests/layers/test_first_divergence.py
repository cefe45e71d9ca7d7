"""The first value that differs from PyTorch, in files with and without a wrong constant."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import pteron
from pteron import edit
from pteron.errors import UsageError
from pteron.layers import first_divergence
from pteron.layers.names import matched
from tests.cli.conftest import Command
from tests.cli.conftest import pteron as command

__all__ = ["command"]

X = (torch.randn(1, 8, generator=torch.Generator().manual_seed(1)),)
PORTABLE: dict[str, Any] = {"backend": None}
MIXED: dict[str, Any] = {"exclude": ["aten.tanh.default"]}


class Net(nn.Module):
    """Three layers around a running sum."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(0)
        self.first = nn.Linear(8, 32)
        self.second = nn.Linear(32, 32)
        self.third = nn.Linear(32, 4)
        self.register_buffer("total", torch.zeros(1, 32))

    def forward(self, x: Tensor) -> Tensor:
        h = torch.relu(self.first(x))
        h = torch.tanh(self.second(h))
        self.total.add_(h)
        return self.third(self.total)


def net(change: Callable[[Net], object] = lambda _: None) -> Net:
    model = Net().eval()
    with torch.no_grad():
        change(model)
    return model


def lowered(options: dict[str, Any], change: Callable[[Net], object] = lambda _: None) -> Any:
    """A file as it is read back from disk."""
    return pteron.open(pteron.lower(net(change), X, **options).to_bytes())


@pytest.mark.parametrize("options", [{}, PORTABLE, MIXED], ids=["coreml", "portable", "mixed"])
def test_a_right_file_has_none(options: dict[str, Any]) -> None:
    assert first_divergence(lowered(options), net(), X, options=options, calls=3) is None


@pytest.mark.slow
@pytest.mark.parametrize("options", [{}, PORTABLE, MIXED], ids=["coreml", "portable", "mixed"])
@pytest.mark.parametrize(
    ("layer", "value"), [("first", "linear"), ("second", "linear_1"), ("third", "linear_2")]
)
def test_the_layer_of_a_wrong_weight_is_named(
    options: dict[str, Any], layer: str, value: str
) -> None:
    wrong = lowered(options, lambda model: getattr(model, layer).weight.add_(0.5))
    found = first_divergence(wrong, net(), X, options=options)
    assert found is not None
    assert (found.method, found.case, found.step) == ("forward", 0, 0)
    assert (found.value, found.op) == (value, "aten.linear.default")
    assert f"self.{layer}" in found.line
    assert found.relative > found.tolerance.rtol


def test_a_weight_that_was_edited_in_the_file() -> None:
    file = lowered(PORTABLE)
    plan = file.program.execution_plan[0]
    linears = [step.instr_args for step in plan.chains[0].instructions][0:5:2]
    weight = linears[1].args[1]  # of aten::linear.out(input, weight, bias, out)
    values = net().second.weight.detach().numpy().copy()
    values[3] *= 4
    edited = edit.replace_constant(file, ("forward", weight), values)
    found = first_divergence(edited, net(), X, options=PORTABLE)
    assert found is not None
    assert (found.value, found.place) == ("linear_1", "instruction 2 (aten::linear.out)")


def test_a_wrong_first_value_of_state_is_seen_where_it_is_read() -> None:
    wrong = lowered(PORTABLE, lambda model: model.total.add_(1))
    found = first_divergence(wrong, net(), X, options=PORTABLE)
    assert found is not None
    assert (found.value, found.step) == ("add", 0)


def test_several_cases_each_begin_anew() -> None:
    cases = {"forward": [[np.zeros((1, 8), np.float32)], [X[0].numpy()]]}
    assert first_divergence(lowered({}), net(), X, cases=cases) is None
    wrong = lowered(PORTABLE, lambda model: model.first.weight.mul_(2))
    found = first_divergence(wrong, net(), X, cases=cases, options=PORTABLE)
    assert found is not None and found.case == 1  # zeros hide a factor


def test_another_model_is_refused() -> None:
    with pytest.raises(UsageError, match=r"instruction 0 is aten::linear\.out\(.*give the model"):
        first_divergence(
            lowered(PORTABLE), nn.Sequential(nn.Linear(8, 4), nn.Tanh()), X, options=PORTABLE
        )


def test_values_are_paired_with_nodes_by_number_and_shape() -> None:
    values = {"linear_2": (4,), "linear_0_cast_fp16": (8,), "linear_2_cast_fp16": (4,)}
    nodes = {"linear": (8,), "linear_1": (4,)}
    pairs = {"linear_0_cast_fp16": "linear", "linear_2_cast_fp16": "linear_1"}
    assert matched(values, nodes) == pairs
    assert matched(values, {"linear": (8,), "linear_1": (5,)}) == {}
    assert matched(values, {"linear": (8,)}) == {}


MODEL = """
from tests.layers.test_first_divergence import X, net
def right():
    return net(), X
def wrong():
    return net(lambda model: model.second.weight.add_(0.5)), X
"""


@pytest.mark.parametrize("options", [PORTABLE, {}], ids=["portable", "coreml"])
def test_data_outside_of_the_file(options: dict[str, Any]) -> None:
    model = net(), net()
    sources = {n: (m, X) for n, m in zip(("forward", "again"), model, strict=True)}
    file = pteron.lower(sources, **options)
    bare, outside = edit.externalise(file, named_data=True)
    assert outside.named_data
    assert first_divergence(bare, sources, data=outside, options=options) is None


def test_command_with_a_data_file(
    command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model, paths = tmp_path / "model.py", (tmp_path / "net.pte", tmp_path / "net.ptd")
    model.write_text(MODEL + "def portable():\n    return net(), X, {'backend': None}\n")
    for part, path in zip(edit.externalise(lowered(PORTABLE)), paths, strict=True):
        part.save(path)
    outcome = command("verify", paths[0], "--layers", f"{model}:portable", "--data", paths[1])
    assert (outcome.code, outcome.out) == (0, "every value is near enough\n"), outcome.err
    outcome = command("verify", paths[0], "--layers", f"{model}:portable")
    assert outcome.code == 2 and ".ptd" in outcome.err


def test_command(command: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path, model = tmp_path / "net.bpte", tmp_path / "model.py"
    model.write_text(MODEL)
    cases = {"forward": [edit.Case(inputs={"0": X[0].numpy()})]}
    edit.bundle(lowered({}), cases).save(path)
    right = command("verify", path, "--layers", f"{model}:right")
    assert (right.code, right.out) == (0, "every value is near enough\n"), right.err
    wrong = command("verify", path, "--layers", f"{model}:wrong", "--json")
    assert wrong.code == 1, wrong.err
    found = json.loads(wrong.out)["first_divergence"]
    assert (found["value"], found["op"]) == ("linear_1", "aten.linear.default")
