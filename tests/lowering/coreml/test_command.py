"""Options of ``pteron lower`` for Core ML payloads."""

from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner, Result

import pteron
from pteron.cli.app import app
from pteron.errors import UsageError
from pteron.payloads import open_payload
from pteron.payloads.coreml.package import CoreMLPackage

MODEL = """
import torch
from torch import nn
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(64, 64)
    def forward(self, x):
        return self.linear(x).relu()
def build():
    return Net(), (torch.ones(2, 64),)
"""


@pytest.fixture
def model(tmp_path: Path) -> Path:
    path = tmp_path / "net.py"
    path.write_text(MODEL)
    return path


def run(*arguments: object) -> Result:
    return CliRunner().invoke(app, ["lower", *map(str, arguments)])


def test_options_of_the_payload(model, tmp_path):
    path = tmp_path / "net.pte"
    options = ["--target", "iOS17", "--precision", "float32", "--compute-units", "cpu_only"]
    options += ["--weights", "int8", "--shapes", "x=2x64,4x64"]
    done = run(f"{model}:build", "-o", path, *options)
    assert done.exit_code == 0, done.output
    assert "weights: 1 of 2 compressed (int8)" in done.stdout
    with pteron.open(path) as file:
        (delegate,) = file.delegates
        (plan,) = file.program.execution_plan
        specs = {spec.key: bytes(spec.value) for spec in plan.delegates[0].compile_specs}
        source = open_payload(delegate.backend_id, delegate.payload, {}, delegate.method)
        made = CoreMLPackage(source).model
        assert made.specificationVersion == 8
        (feature,) = made.description.input
        listed = feature.type.multiArrayType.enumeratedShapes.shapes
        assert [list(shape.shape) for shape in listed] == [[2, 64], [4, 64]]
    assert specs == {
        "compute_units": b"cpu_only",
        "min_deployment_target": b"8",
        "model_compute_precision": b"float32",
        "model_type": b"model",
    }


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--weights", "int5"], "weights='int5': must be one of int8, int4"),
        (["--weights", "int4", "--target", "iOS17"], "needs iOS18"),
        (["--weights", "int4", "--backend", "none"], "--backend none has none"),
        (["--shapes", "x=1,2", "--backend", "none"], "--backend none has none"),
        (["--shapes", "x:1x2"], "write INPUT=SHAPE,SHAPE as in x=1x80,8x80"),
        (["--target", "iOS3"], "must be one of iOS15"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_runs(options, said, tmp_path):
    done = run("absent.py:build", "-o", tmp_path / "net.pte", *options)
    assert isinstance(done.exception, UsageError)
    assert said in str(done.exception)


def test_operators_that_no_delegate_gets(model, tmp_path):
    path = tmp_path / "net.pte"
    done = run(f"{model}:build", "-o", path, "--exclude", "aten.relu.*", "--no-multifunction")
    assert done.exit_code == 0, done.output
    with pteron.open(path) as file:
        assert [op.name for op in file.program.execution_plan[0].operators] == ["aten::relu"]
    done = run(f"{model}:build", "-o", path, "--exclude", "aten.relu.*", "--whole-graph")
    assert "aten.relu.default" in str(done.exception)
