"""Programs that cannot be executed: one error that names op, output and function."""

from __future__ import annotations

import re
import resource

import numpy as np
import pytest
import torch
from torch import nn

from pteron.engines.base import EngineOptions
from pteron.errors import EngineError, UsageError
from pteron.payloads.coreml.package import CoreMLPackage
from pteron.payloads.coreml.proto import mil_pb2 as mil
from pteron.payloads.sources import FilesSource
from tests.engines.converted import ENGINE, compile_source, convert


@pytest.fixture(scope="module")
def linear() -> FilesSource:
    torch.manual_seed(0)
    layers = nn.Sequential(nn.Linear(64, 64), nn.ReLU(), nn.Linear(64, 8))
    return convert(layers, (torch.randn(2, 64),))


def edited(source: FilesSource, edit) -> FilesSource:
    """The package with its program changed by ``edit(function, operations)``."""
    package = CoreMLPackage(source)
    model = type(package.model)()
    model.CopyFrom(package.model)
    function = model.mlProgram.functions["main"]
    edit(function, function.block_specializations[function.opset].operations)
    files = dict(source.files)
    files[package.model_path] = memoryview(model.SerializeToString())
    return FilesSource(source.backend_id, files)


def first(operations, type: str):
    return next(op for op in operations if op.type == type)


def unknown_op(function, operations) -> None:
    first(operations, "relu").type = "fancy_relu"


def unknown_opset(function, operations) -> None:
    function.block_specializations["CoreML99"].CopyFrom(
        function.block_specializations[function.opset]
    )
    function.opset = "CoreML99"


def no_block(function, operations) -> None:
    function.opset = "CoreML99"


def op_of_a_later_opset(function, operations) -> None:
    function.block_specializations["CoreML5"].CopyFrom(
        function.block_specializations[function.opset]
    )
    function.opset = "CoreML5"
    first(function.block_specializations["CoreML5"].operations, "relu").type = "read_state"


def weight(operations) -> mil.Value:
    return next(
        op.attributes["val"]
        for op in operations
        if op.type == "const" and op.attributes["val"].WhichOneof("value") == "blobFileValue"
    )


def weights_past_the_end(function, operations) -> None:
    weight(operations).blobFileValue.offset = 64 << 20


def weights_of_no_file(function, operations) -> None:
    weight(operations).blobFileValue.fileName = "@model_path/weights/other.bin"


def weights_of_another_type(function, operations) -> None:
    weight(operations).type.tensorType.dataType = mil.INT8


def weights_of_another_shape(function, operations) -> None:
    weight(operations).type.tensorType.dimensions[0].constant.size += 1


def absurd_weight(function, operations) -> None:
    weight(operations).type.tensorType.dimensions[0].constant.size = 1 << 60


def absurd_input(function, operations) -> None:
    function.inputs[0].type.tensorType.dimensions[0].constant.size = 1 << 60


def undefined_value(function, operations) -> None:
    first(operations, "relu").inputs["x"].arguments[0].name = "nowhere"


def cycle(function, operations) -> None:
    relu = first(operations, "relu")
    relu.inputs["x"].arguments[0].name = relu.outputs[0].name


def defined_twice(function, operations) -> None:
    operations.append(first(operations, "relu"))


def missing_input(function, operations) -> None:
    del first(operations, "relu").inputs["x"]


def unknown_input(function, operations) -> None:
    relu = first(operations, "relu")
    relu.inputs["beta"].CopyFrom(relu.inputs["x"])


def wrong_dtype(function, operations) -> None:
    first(operations, "relu").type = "logical_not"


def wrong_shape(function, operations) -> None:
    first(operations, "relu").outputs[0].type.tensorType.dimensions[1].constant.size = 63


def mismatched_matmul(function, operations) -> None:
    linear = first(operations, "linear")
    linear.inputs["weight"].CopyFrom(
        next(o for o in reversed(operations) if o.type == "linear").inputs["weight"]
    )
    linear.inputs["x"].arguments[0].name = "nowhere"


def unknown_data_type(function, operations) -> None:
    first(operations, "relu").outputs[0].type.tensorType.dataType = 99


def constant_of_two_names(function, operations) -> None:
    const = first(operations, "const")
    const.outputs.add().CopyFrom(const.outputs[0])


def constant_of_no_name(function, operations) -> None:
    del first(operations, "const").outputs[:]


def text_in_bytes(function, operations) -> None:
    value = first(operations, "const").attributes["val"]
    value.type.tensorType.dataType = mil.STRING
    value.immediateValue.tensor.bytes.values = b"text"


def number_out_of_range(function, operations) -> None:
    value = first(operations, "const").attributes["val"]
    value.type.tensorType.dataType = mil.UINT16
    value.immediateValue.tensor.ints.values.append(-1)


CASES = [
    (constant_of_two_names, "const '.*declares 2 outputs but has 1"),
    (constant_of_no_name, "const '.*declares 0 outputs but has 1"),
    (text_in_bytes, "const '.*holds bytes"),
    (number_out_of_range, "const '.*uint16.*out of bounds"),
    (unknown_op, "fancy_relu '.*unknown op"),
    (unknown_opset, "unknown opset 'CoreML99'"),
    (no_block, "no block for opset 'CoreML99'"),
    (op_of_a_later_opset, "iOS 18"),
    (weights_past_the_end, "const '.*weight"),
    (weights_of_no_file, "other.bin"),
    (weights_of_another_type, "int8"),
    (weights_of_another_shape, "65"),
    (absurd_weight, "memory"),
    (absurd_input, "memory"),
    (undefined_value, "relu '.*'nowhere' is used before it is defined"),
    (cycle, "relu '.*is used before it is defined"),
    (defined_twice, "relu '.*defined twice"),
    (missing_input, "relu '.*input 'x' is missing"),
    (unknown_input, "relu '.*no input 'beta'"),
    (wrong_dtype, "logical_not '.*must be bool, not float16"),
    (wrong_shape, "relu '.*declared as float16\\[2, 63\\]"),
    (mismatched_matmul, "linear '.*nowhere"),
    (unknown_data_type, "relu '.*unknown data type 99"),
]


@pytest.mark.parametrize(("edit", "message"), CASES, ids=[edit.__name__ for edit, _ in CASES])
def test_the_error_names_op_and_function(linear, edit, message) -> None:
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(EngineError, match=f"function 'main'.*{message}") as caught:
        compile_source(edited(linear, edit))
    assert caught.value.function == "main"
    assert caught.value.op
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 200 * 1024  # KiB


def test_bad_calls_say_what_was_expected_and_what_came(linear) -> None:
    session = compile_source(linear).new_session()
    good = np.zeros((2, 64), np.float32)
    calls = [
        ("main", [], "takes 1 inputs"),
        ("main", [good, good], "takes 1 inputs"),
        ("main", [good.astype(np.float64)], r"float32\[2, 64\].*float64\[2, 64\]"),
        ("main", [good[:1]], r"float32\[2, 64\].*float32\[1, 64\]"),
        ("main", [good[0]], r"float32\[2, 64\].*float32\[64\]"),
        ("other", [good], "'other'.*main"),
    ]
    for function, inputs, message in calls:
        with pytest.raises(UsageError, match=message):
            session.run(function, inputs)


@pytest.mark.parametrize("options", [EngineOptions("exact"), EngineOptions(threads=0)])
def test_bad_options_are_named(linear, options) -> None:
    with pytest.raises(UsageError, match=r"precision|threads"):
        ENGINE.compile_in_memory(linear, options)


@pytest.mark.parametrize("damage", ["missing", "manifest", "blob", "version"])
def test_a_damaged_compiled_model_is_an_error(linear, tmp_path, damage) -> None:
    ENGINE.compile(linear, EngineOptions(), tmp_path)
    manifest, blob = tmp_path / "functions.json", tmp_path / "function0.blob"
    if damage == "missing":
        blob.unlink()
    elif damage == "manifest":
        manifest.write_text(manifest.read_text()[:-9])
    elif damage == "blob":
        blob.write_bytes(b"not a model" * 100)
    else:
        manifest.write_text(re.sub('"format": [0-9]+', '"format": 0', manifest.read_text()))
    with pytest.raises(EngineError, match=str(tmp_path)):
        ENGINE.load(linear, EngineOptions(), tmp_path)
