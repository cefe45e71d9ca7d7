"""``pteron.load`` on arguments that cannot be right, and on what NumPy alone cannot hold."""

from __future__ import annotations

import platform
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
import torch
from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner
from executorch.exir import to_edge_transform_and_lower

import pteron
from pteron.errors import FileAccessError, StateError, UnsupportedError, UsageError
from pteron.runtime.arrays import as_array


@pytest.mark.parametrize("source", [None, 3, [], b"bytes that are no path"])
def test_a_source_that_is_none(source: Any) -> None:
    with pytest.raises(UsageError, match="expected a path or an open program, not"):
        pteron.load(source)


@pytest.mark.parametrize(
    ("choices", "message"),
    [
        ({"cache": "dir"}, "cache is a cache of compiled models or None"),
        ({"cache": True}, "cache is a cache of compiled models or None"),
        ({"threads": "2"}, "threads is a whole number"),
        ({"threads": 1.5}, "threads is a whole number"),
        ({"threads": 0}, "threads is a whole number"),
        ({"streams": 0}, "streams is a whole number"),
        ({"streams": True}, "streams is a whole number"),
        ({"precision": "f16"}, "precision is one of"),
        ({"engine": "tensorrt"}, "no engine 'tensorrt'"),
    ],
)
def test_choices_that_cannot_be(
    counter_program: Path, choices: dict[str, Any], message: str
) -> None:
    with pytest.raises(UsageError, match=message):
        pteron.load(counter_program, **choices)


@pytest.mark.parametrize(
    ("name", "missing"), [("m.mlpackage", "Manifest.json"), ("m.mlmodelc", "coremldata.bin")]
)
def test_a_model_of_which_the_chief_file_is_missing(
    tmp_path: Path, name: str, missing: str
) -> None:
    (tmp_path / name / missing).mkdir(parents=True)
    with pytest.raises(FileAccessError, match=f"no Core ML model: it has no file {missing}"):
        pteron.load(tmp_path / name)


@pytest.mark.parametrize(
    ("engine", "message"),
    [
        pytest.param(
            "coreml",
            "runs on macOS only; use engine 'openvino' here$",
            marks=pytest.mark.skipif(platform.system() == "Darwin", reason="it runs there"),
        ),
        ("executorch", "not Core ML models by themselves; use engine 'openvino' or 'coreml'"),
    ],
)
def test_engines_that_cannot_take_a_package(tmp_path: Path, engine: str, message: str) -> None:
    package = tmp_path / "m.mlpackage"
    package.mkdir()
    (package / "Manifest.json").write_text("{}")
    with pytest.raises(UnsupportedError, match=message):
        pteron.load(package, engine=engine)


def test_data_without_a_program(corpus: Path) -> None:
    with pytest.raises(UnsupportedError, match="holds data only"):
        pteron.load(corpus / "linear-external.ptd")


def test_one_data_file_needs_no_list(corpus: Path) -> None:
    module = pteron.load(
        corpus / "linear-external.pte", data=corpus / "linear-external.ptd", cache=None
    )
    (output,) = module.forward(np.eye(3, dtype=np.float32))
    assert output.shape == (3, 3)


def test_external_data_that_is_not_given_is_named(corpus: Path) -> None:
    with pytest.raises(pteron.PteronError, match=r"pass the \.ptd file that has it"):
        pteron.load(corpus / "linear-external.pte", cache=None)


def test_only_a_snapshot_can_be_restored(counter_program: Path) -> None:
    module = pteron.load(counter_program, cache=None)
    with pytest.raises(StateError, match="expected a snapshot, not str"):
        module.state.restore("prefix.safetensors")  # type: ignore[arg-type]


def test_torch_dtypes_that_numpy_lacks() -> None:
    array = as_array(torch.tensor([1.5], dtype=torch.bfloat16), np.dtype(np.float32), "here")
    assert array.dtype == ml_dtypes.bfloat16
    parameter = torch.nn.Parameter(torch.ones(2))
    assert as_array(parameter, np.dtype(np.float32), "here").tolist() == [1, 1]


class Linear(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear(x)


def test_xnnpack_runs_on_executorch_and_is_pointed_there(tmp_path: Path) -> None:
    torch.manual_seed(0)
    model, x = Linear().eval(), torch.ones(1, 4)
    exported = torch.export.export(model, (x,))
    lowered = to_edge_transform_and_lower(exported, partitioner=[XnnpackPartitioner()])
    path = tmp_path / "xnnpack.pte"
    path.write_bytes(lowered.to_executorch().buffer)
    (output,) = pteron.load(path, engine="executorch").forward(x)
    np.testing.assert_allclose(output, model(x).detach().numpy(), rtol=1e-5)
    with pytest.raises(UnsupportedError, match="engine 'executorch' runs whole programs"):
        pteron.load(path)
