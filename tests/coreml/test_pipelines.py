"""Pipelines that coremltools makes of ML programs, through ``pteron.load`` and ``predict``."""

from __future__ import annotations

from pathlib import Path

import coremltools as ct
import numpy as np
import pytest
import torch
from torch import nn

import pteron
from pteron.coreml import disable_predict, enable_predict
from pteron.errors import EngineError, UnsupportedError
from pteron.files.packages import package_size_tree
from pteron.payloads.coreml.package import BACKEND_ID, directory_source
from pteron.payloads.coreml.reader import READER
from pteron.payloads.sources import FilesSource
from tests.engines.compiled_form import as_compiled_pipeline
from tests.engines.converted import compile_source


@pytest.fixture(autouse=True)
def predicting():
    enable_predict()
    yield
    disable_predict()


def convert(module: nn.Module, inputs: dict[str, tuple[int, ...]], outputs: list[str], **options):
    example = tuple(torch.zeros(shape) for shape in inputs.values())
    return ct.convert(
        torch.jit.trace(module.eval(), example),
        inputs=[
            ct.TensorType(name=name, shape=shape, dtype=np.float32)
            for name, shape in inputs.items()
        ],
        outputs=[ct.TensorType(name=name) for name in outputs] if outputs else None,
        skip_model_load=True,
        minimum_deployment_target=options.pop("target", ct.target.iOS17),
        **options,
    )


class Both(nn.Module):
    """Two inputs: what the stage before gives, and one of the caller's."""

    def __init__(self) -> None:
        super().__init__()
        torch.manual_seed(3)
        self.layer = nn.Linear(8, 4)

    def forward(self, hidden: torch.Tensor, bias: torch.Tensor) -> torch.Tensor:
        return torch.softmax(self.layer(hidden) + bias, -1)


def first() -> nn.Module:
    torch.manual_seed(2)
    return nn.Sequential(nn.Linear(6, 8), nn.ReLU())


def check(model: pteron.Module, predicted: dict, name: str) -> None:
    x, bias = (np.linspace(-1, 1, n, dtype=np.float32)[None] for n in (6, 4))
    with torch.no_grad():
        expected = Both()(first()(torch.from_numpy(x)), torch.from_numpy(bias)).numpy()
    (out,) = model.methods["main"](bias=bias, x=x)
    np.testing.assert_allclose(out, expected, atol=2e-3)
    np.testing.assert_array_equal(predicted({"x": x, "bias": bias})[name], out)


@pytest.mark.parametrize("targets", [("iOS17", "iOS17"), ("iOS15", "iOS18")])
def test_stages_feed_one_another_by_name(targets, tmp_path: Path) -> None:
    """Also where each stage is of an opset of its own."""
    one, other = (getattr(ct.target, target) for target in targets)
    stages = [
        convert(first(), {"x": (1, 6)}, ["hidden"], target=one),
        convert(Both(), {"hidden": (1, 8), "bias": (1, 4)}, ["y"], target=other),
    ]
    pipeline = ct.utils.make_pipeline(*stages)
    pipeline.save(str(tmp_path / "pipe.mlpackage"))
    model = pteron.load(tmp_path / "pipe.mlpackage", cache=None)
    assert [p.name for p in model.methods["main"].inputs] == ["x", "bias"]
    assert [p.name for p in model.methods["main"].outputs] == ["y"]
    check(model, pipeline.predict, "y")


def test_a_pipeline_is_cached_and_summarised(tmp_path: Path) -> None:
    stages = [
        convert(first(), {"x": (1, 6)}, ["hidden"], compute_precision=ct.precision.FLOAT32),
        convert(Both(), {"hidden": (1, 8), "bias": (1, 4)}, ["y"]),
    ]
    ct.utils.make_pipeline(*stages).save(str(tmp_path / "pipe.mlpackage"))
    cache = pteron.cache.DirectoryCache(tmp_path / "cache")
    x, bias = np.ones((1, 6), np.float32), np.zeros((1, 4), np.float32)
    first_time, again = (
        pteron.load(tmp_path / "pipe.mlpackage", cache=cache).methods["main"](x, bias)[0]
        for _ in range(2)
    )
    np.testing.assert_array_equal(first_time, again)
    source = directory_source(tmp_path / "pipe.mlpackage")
    assert [f.name for f in READER.summary(source).functions] == ["0/main", "1/main"]
    assert all(c.name.startswith(("0/main/", "1/main/")) for c in READER.constants(source))


def test_a_classifier_at_the_end(tmp_path: Path) -> None:
    labels = ["cat", "dog", "owl", "fox"]
    stages = [
        convert(first(), {"x": (1, 6)}, ["hidden"]),
        convert(
            Both(),
            {"hidden": (1, 8), "bias": (1, 4)},
            [],
            classifier_config=ct.ClassifierConfig(labels),
        ),
    ]
    pipeline = ct.utils.make_pipeline(*stages)
    x, bias = np.ones((1, 6), np.float32), np.float32([[0, 9, 0, 0]])
    answer = pipeline.predict({"x": x, "bias": bias})
    assert answer["classLabel"] == "dog"
    (probabilities,) = (v for k, v in answer.items() if k != "classLabel")
    assert max(probabilities, key=probabilities.get) == "dog"
    assert sum(probabilities.values()) == pytest.approx(1, abs=1e-3)


def test_a_compiled_pipeline(tmp_path: Path) -> None:
    stages = [
        convert(first(), {"x": (1, 6)}, ["hidden"]),
        convert(Both(), {"hidden": (1, 8), "bias": (1, 4)}, ["y"]),
    ]
    pipeline = ct.utils.make_pipeline(*stages)
    pipeline.save(str(tmp_path / "pipe.mlpackage"))
    source = as_compiled_pipeline(directory_source(tmp_path / "pipe.mlpackage"))
    directory = tmp_path / "pipe.mlmodelc"
    for path, data in source.files.items():
        place = directory / path.removeprefix("model.mlmodelc/")
        place.parent.mkdir(parents=True, exist_ok=True)
        place.write_bytes(data)
    model = pteron.load(directory, cache=None)
    assert [p.name for p in model.methods["main"].inputs] == ["x", "bias"]
    check(model, pipeline.predict, "y")
    assert [f.name for f in READER.summary(source).functions] == ["0/main", "1/main"]
    weights = {constant.name: constant.shape for constant in READER.constants(source)}
    assert sorted(weights.values()) == [(4, 8), (8, 6)]
    sized = [part for part in package_size_tree(directory).walk() if part.kind == "weight"]
    assert sorted(part.shape for part in sized) == [(4, 8), (8, 6)]


def test_a_compiled_pipeline_of_something_else(tmp_path: Path) -> None:
    files = {
        f"model.mlmodelc/{path}": memoryview(data)
        for path, data in {
            "coremldata.bin": b"",
            "metadata.json": b"[{}]",
            "model0/coremldata.bin": b"",
            "model0/model.espresso.net": b"{}",
        }.items()
    }
    with pytest.raises(UnsupportedError, match=r"model\.mlmodelc/model0 is no ML program"):
        compile_source(FilesSource(BACKEND_ID, files))


def as_kind(pipeline, kind: str):
    """The same pipeline as one that predicts a number or a class, for which coremltools has no
    function: its specification, and where its weights are."""
    spec = pipeline.get_spec()
    whole = type(spec.pipeline)()
    whole.CopyFrom(spec.pipeline)
    getattr(spec, kind).pipeline.CopyFrom(whole)
    return ct.models.MLModel(spec, skip_model_load=True, weights_dir=pipeline.weights_dir)


def test_a_pipeline_that_predicts_a_number(tmp_path: Path) -> None:
    stages = [
        convert(first(), {"x": (1, 6)}, ["hidden"]),
        convert(Both(), {"hidden": (1, 8), "bias": (1, 4)}, ["y"]),
    ]
    pipeline = as_kind(ct.utils.make_pipeline(*stages), "pipelineRegressor")
    assert pipeline.get_spec().WhichOneof("Type") == "pipelineRegressor"
    pipeline.save(str(tmp_path / "pipe.mlpackage"))
    model = pteron.load(tmp_path / "pipe.mlpackage", cache=None)
    check(model, pipeline.predict, "y")


@pytest.mark.parametrize("labels", [["cat", "dog", "owl", "fox"], [3, 5, 7, 2**40]])
def test_a_pipeline_that_predicts_a_class(labels, tmp_path: Path) -> None:
    stages = [
        convert(first(), {"x": (1, 6)}, ["hidden"]),
        convert(
            Both(),
            {"hidden": (1, 8), "bias": (1, 4)},
            [],
            classifier_config=ct.ClassifierConfig(labels, predicted_feature_name="label"),
        ),
    ]
    pipeline = as_kind(ct.utils.make_pipeline(*stages), "pipelineClassifier")
    pipeline.save(str(tmp_path / "pipe.mlpackage"))
    x, bias = np.ones((1, 6), np.float32), np.float32([[0, 0, 9, 0]])
    label, scores = pteron.load(tmp_path / "pipe.mlpackage", cache=None).methods["main"](x, bias)
    assert label.item() == labels[2]
    with torch.no_grad():
        expected = Both()(first()(torch.from_numpy(x)), torch.from_numpy(bias)).numpy()[0]
    assert list(scores.item()) == labels
    np.testing.assert_allclose(list(scores.item().values()), expected, atol=2e-3)
    assert pipeline.predict({"x": x, "bias": bias})["label"] == labels[2]


def test_what_is_no_program_or_does_not_fit(tmp_path: Path) -> None:
    stages = [
        convert(first(), {"x": (1, 6)}, ["hidden"]),
        convert(Both(), {"hidden": (1, 8), "bias": (1, 4)}, ["y"]),
    ]
    pipeline = ct.utils.make_pipeline(*stages)
    pipeline.save(str(tmp_path / "pipe.mlpackage"))
    (path,) = (tmp_path / "pipe.mlpackage").glob("Data/*/*.mlmodel")
    spec = pipeline.get_spec()
    spec.pipeline.models[1].mlProgram.functions["main"].inputs[0].type.tensorType.dimensions[
        1
    ].constant.size = 9
    path.write_bytes(spec.SerializeToString())
    with pytest.raises(EngineError):
        compile_source(directory_source(tmp_path / "pipe.mlpackage"))
    spec.pipeline.models[1].ClearField("mlProgram")
    path.write_bytes(spec.SerializeToString())
    with pytest.raises(UnsupportedError, match="no ML program"):
        compile_source(directory_source(tmp_path / "pipe.mlpackage"))
