"""The commands on Core ML packages and compiled models, which are directories."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pteron import load
from pteron.errors import UsageError
from pteron.payloads.coreml.package import directory_source
from pteron.payloads.coreml.proto.model_pb2 import Model
from tests.cli.conftest import Command
from tests.engines.compiled_form import as_compiled
from tests.engines.oneop import _MANIFEST, operation, type_of

LABELS = ["cat", "dog", "owl"]
X, BIAS = np.float32([[1, 5, 2]]), np.float32([[9, 0, 0]])


def model() -> Model:
    """``softmax(x + bias)`` as a classifier; the bias may be left out."""
    made = Model(specificationVersion=8)
    made.mlProgram.version = 1
    function = made.mlProgram.functions["main"]
    function.opset = "CoreML7"
    block = function.block_specializations["CoreML7"]
    for name in ("bias", "x"):
        function.inputs.add(name=name, type=type_of(X))
    for name in ("x", "bias"):
        array = made.description.input.add(name=name).type
        array.multiArrayType.shape.extend(X.shape)
        array.multiArrayType.dataType = array.multiArrayType.FLOAT32
        array.isOptional = name == "bias"
    add = operation("add", {}, {}, [X])
    add.inputs["x"].arguments.add().name = "x"
    add.inputs["y"].arguments.add().name = "bias"
    softmax = operation("softmax", {}, {"axis": np.int32(-1)}, [X])
    softmax.inputs["x"].arguments.add().name = "out0"
    softmax.outputs[0].name = "likely"
    classify = operation("classify", {}, {"classes": np.array(LABELS)}, [])
    classify.inputs["probabilities"].arguments.add().name = "likely"
    classify.outputs.add(name="label", type=type_of(np.array("cat")))
    scores = classify.outputs.add(name="scores").type.dictionaryType
    scores.keyType.CopyFrom(type_of(np.array("cat")))
    scores.valueType.CopyFrom(type_of(np.float32(0)))
    block.operations.extend([add, softmax, classify])
    block.outputs.extend(["label", "scores"])
    made.description.output.add(name="label").type.stringType.SetInParent()
    made.description.output.add(name="scores").type.dictionaryType.SetInParent()
    return made


@pytest.fixture(params=["mlpackage", "mlmodelc"])
def package(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    made = tmp_path / "classifier.mlpackage"
    (made / "Data").mkdir(parents=True)
    (made / "Manifest.json").write_bytes(_MANIFEST)
    (made / "Data" / "model.mlmodel").write_bytes(model().SerializeToString())
    if request.param == "mlpackage":
        return made
    compiled = as_compiled(directory_source(made))
    directory = tmp_path / "classifier.mlmodelc"
    directory.mkdir()
    for path, data in compiled.files.items():
        (directory / Path(path).name).write_bytes(data)
    return directory


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PTERON_CACHE_DIR", str(tmp_path / "cache"))
    import pteron

    pteron.cache.reset_default_cache()


@pytest.mark.parametrize(
    ("inputs", "label"),
    [
        ({"x": X, "bias": BIAS}, "cat"),
        ({"arr_0": X, "arr_1": BIAS}, "cat"),
        ({"x": X}, "dog"),
        ({"arr_0": X}, "dog"),
    ],
    ids=["names", "positions", "name, default", "position, default"],
)
def test_run_takes_names_positions_and_defaults(
    pteron: Command, package: Path, tmp_path: Path, inputs: dict, label: str
) -> None:
    np.savez(tmp_path / "in.npz", **inputs)
    outcome = pteron("run", package, "--inputs", tmp_path / "in.npz", "--json")
    assert outcome.code == 0
    answer = json.loads(outcome.out)
    assert answer["label"] == label
    assert sum(answer["scores"].values()) == pytest.approx(1)


def test_run_writes_a_classifiers_answer(pteron: Command, package: Path, tmp_path: Path) -> None:
    np.savez(tmp_path / "in.npz", x=X)
    arguments = ("--inputs", tmp_path / "in.npz", "--outputs", tmp_path / "out.npz")
    assert pteron("run", package, *arguments).code == 0
    with np.load(tmp_path / "out.npz") as written:
        assert written["label"].item() == "dog"
        assert written["scores.classes"].tolist() == LABELS
        likely = np.exp(X[0]) / np.exp(X[0]).sum()
        np.testing.assert_allclose(written["scores"], likely, rtol=1e-5)


@pytest.mark.parametrize(
    ("inputs", "message"),
    [
        ({"y": X, "bias": BIAS}, "holds y, bias; the inputs are x, bias (may be left out)"),
        ({"x": X.astype(np.float64)}, "expected x: float32[1, 3], got float64[1, 3]"),
        ({"x": X[0]}, "expected x: float32[1, 3], got float32[3]"),
        ({"arr_0": X, "arr_1": X, "arr_2": X}, "holds arr_0, arr_1, arr_2; the inputs are x, "),
    ],
    ids=["name", "dtype", "shape", "count"],
)
def test_wrong_inputs_say_what_was_expected_and_what_came(
    pteron: Command, package: Path, tmp_path: Path, inputs: dict, message: str
) -> None:
    np.savez(tmp_path / "in.npz", **inputs)
    outcome = pteron("run", package, "--inputs", tmp_path / "in.npz")
    assert outcome.code == 2
    assert message in outcome.err
    assert outcome.err.count("\n") == 1


def test_inspect_shows_functions_and_files(pteron: Command, package: Path) -> None:
    described = json.loads(pteron("inspect", package, "--json").out)
    (function,) = described["payload"]["functions"]
    assert [value["name"] for value in function["inputs"]] == ["x", "bias"]
    assert function["operations"] == {"add": 1, "softmax": 1, "classify": 1}
    assert described["bytes"] == sum(p.stat().st_size for p in package.rglob("*") if p.is_file())
    page = pteron("inspect", package).out
    assert "x: float32[1, 3], bias: float32[1, 3]" in page
    assert all(file["path"] in page for file in described["files"])


def test_the_default_function_is_the_descriptions(pteron: Command, tmp_path: Path) -> None:
    made, functions = model(), ("main", "likely", "forward")
    for name in functions[1:]:
        made.mlProgram.functions[name].CopyFrom(made.mlProgram.functions["main"])
    for name in functions:
        described = made.description.functions.add(name=name)
        described.input.extend(made.description.input)
        described.output.extend(made.description.output)
    made.description.defaultFunctionName = "likely"
    package = tmp_path / "several.mlpackage"
    (package / "Data").mkdir(parents=True)
    (package / "Manifest.json").write_bytes(_MANIFEST)
    (package / "Data" / "model.mlmodel").write_bytes(made.SerializeToString())
    with load(package, cache=None) as module:
        assert module.default == module.fork().default == "likely"
        assert module.method() is module.methods["likely"]
        assert module(X)[0] == module.forward(X)[0] == "dog"
        with pytest.raises(UsageError, match="no method 'c' in this program; its methods: likely"):
            module.method("c")
    np.savez(tmp_path / "in.npz", x=X)
    assert pteron("run", package, "--inputs", tmp_path / "in.npz").code == 0
    assert json.loads(pteron("inspect", package, "--json").out)["payload"]["default"] == "likely"
    page = pteron("inspect", package).out
    assert [name for name in functions if f"function {name}, the default" in page] == ["likely"]


def test_size_adds_up(pteron: Command, package: Path) -> None:
    tree = json.loads(pteron("size", package, "--json").out)
    files = {p.relative_to(package).as_posix(): p.stat().st_size for p in package.rglob("*.*")}
    assert {part["name"]: part["bytes"] for part in tree["children"]} == files
    assert tree["bytes"] == sum(files.values())


def test_size_goes_down_to_weights(pteron: Command, corpus: Path) -> None:
    vad = corpus / "coreml" / "silero-vad-256ms-int8.mlmodelc"
    tree = json.loads(pteron("size", vad, "--json").out)
    (weights,) = (part for part in tree["children"] if part["name"] == "weights/weight.bin")
    sizes = {part["name"]: part["bytes"] for part in weights["children"]}
    assert sizes["concat_1_quantized.quantized_data"] == 512 * 128
    assert sum(sizes.values()) <= weights["bytes"]


@pytest.mark.parametrize("command", [["check"], ["verify"], ["extract", "-o", "new"]])
def test_commands_for_programs_say_what_else_there_is(
    pteron: Command, package: Path, command: list[str]
) -> None:
    outcome = pteron(command[0], package, *command[1:])
    assert outcome.code == 2
    assert "is a Core ML model" in outcome.err
    assert "inspect" in outcome.err


def test_a_model_of_another_kind_is_still_listed(pteron: Command, tmp_path: Path) -> None:
    made = tmp_path / "net.mlpackage"
    (made / "Data").mkdir(parents=True)
    (made / "Manifest.json").write_bytes(_MANIFEST)
    (made / "Data" / "model.mlmodel").write_bytes(Model().SerializeToString())
    described = json.loads(pteron("inspect", made, "--json").out)
    assert described["payload"] is None
    assert "no ML program" in described["note"]
    assert pteron("size", made).code == 0
    assert "no ML program" in pteron("inspect", made).out
