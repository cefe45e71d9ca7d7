"""Programs of one operation, written straight into the protobuf, and their result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from pteron.engines.base import EngineOptions
from pteron.engines.openvino import OpenVINOEngine
from pteron.payloads.coreml.package import BACKEND_ID
from pteron.payloads.coreml.proto import mil_pb2 as mil
from pteron.payloads.coreml.proto.model_pb2 import Model
from pteron.payloads.sources import FilesSource
from tests.engines.compiled_form import check_text_form

ENGINE = OpenVINOEngine()
OPSETS = {15: "CoreML5", 16: "CoreML6", 17: "CoreML7", 18: "CoreML8", 26: "CoreML9"}
_MANIFEST = b"""{"fileFormatVersion": "1.0.0", "itemInfoEntries": {"m": {"path": "model.mlmodel",
"author": "com.apple.CoreML", "name": "model.mlmodel", "description": ""}},
"rootModelIdentifier": "m"}"""


def type_of(array: np.ndarray) -> mil.ValueType:
    """The MIL type of an array."""
    name = "string" if array.dtype.kind == "U" else array.dtype.name
    tensor = mil.TensorType(dataType=mil.DataType.Value(name.upper()), rank=array.ndim)
    for size in array.shape:
        tensor.dimensions.add().constant.size = size
    return mil.ValueType(tensorType=tensor)


def constant(value: Any) -> mil.Value:
    """A constant written into the program itself."""
    array = np.asarray(value)
    if array.dtype == np.int64:
        array = array.astype(np.int32)
    if array.dtype == np.float64:
        array = array.astype(np.float32)
    result = mil.Value(type=type_of(array))
    tensor = result.immediateValue.tensor
    flat = array.reshape(-1)
    if array.dtype.kind == "U":
        tensor.strings.values.extend(flat.tolist())
    elif array.dtype == np.float32:
        tensor.floats.values.extend(flat.tolist())
    elif array.dtype == np.int32:
        tensor.ints.values.extend(flat.tolist())
    elif array.dtype == np.bool_:
        tensor.bools.values.extend(flat.tolist())
    else:
        tensor.bytes.values = flat.tobytes()
    return result


def operation(
    type: str, tensors: Mapping[str, Any], constants: Mapping[str, Any], outputs: Sequence[Any]
) -> mil.Operation:
    """An operation whose tensor inputs are named after themselves."""
    op = mil.Operation(type=type)
    for name, value in tensors.items():
        parts = value if isinstance(value, list) else [value]
        for index in range(len(parts)):
            op.inputs[name].arguments.add().name = f"{name}{index}"
    for name, value in constants.items():
        for part in value if isinstance(value, tuple) else (value,):
            op.inputs[name].arguments.add().value.CopyFrom(constant(part))
    for index, output in enumerate(outputs):
        op.outputs.add(name=f"out{index}", type=type_of(np.asarray(output)))
    return op


def source(function: mil.Function) -> FilesSource:
    """A package that holds one function."""
    model = Model(specificationVersion=9)
    model.mlProgram.version = 1
    model.mlProgram.functions["main"].CopyFrom(function)
    files = {
        "model.mlpackage/Manifest.json": memoryview(_MANIFEST),
        "model.mlpackage/Data/model.mlmodel": memoryview(model.SerializeToString()),
    }
    made = FilesSource(BACKEND_ID, files)
    check_text_form(made)
    return made


def run(
    type: str,
    tensors: Mapping[str, Any],
    constants: Mapping[str, Any],
    expected: Sequence[Any],
    opset: int = 18,
    precision: str = "model",
) -> list[np.ndarray]:
    """Execute one operation; its outputs are declared as the arrays expected of it."""
    function = mil.Function(opset=OPSETS[opset])
    inputs = []
    for name, value in tensors.items():
        for index, array in enumerate(value if isinstance(value, list) else [value]):
            function.inputs.add(name=f"{name}{index}", type=type_of(np.asarray(array)))
            inputs.append(np.asarray(array))
    block = function.block_specializations[function.opset]
    block.operations.append(operation(type, tensors, constants, expected))
    block.outputs.extend(f"out{index}" for index in range(len(expected)))
    compiled = ENGINE.compile_in_memory(source(function), EngineOptions(precision))
    return compiled.new_session().run("main", inputs)


def check(
    type: str,
    tensors: Mapping[str, Any],
    constants: Mapping[str, Any],
    expected: Any,
    opset: int = 18,
    tolerance: float | None = None,
) -> None:
    """Compare with a reference, to a few units in the last place of the dtype by default."""
    wanted = [np.asarray(e) for e in (expected if isinstance(expected, list) else [expected])]
    for actual, want in zip(run(type, tensors, constants, wanted, opset), wanted, strict=True):
        assert actual.dtype == want.dtype
        assert actual.shape == want.shape
        if want.dtype.kind == "f":
            default = 4e-3 if want.dtype == np.float16 else 1e-5
            bound = default if tolerance is None else tolerance
            np.testing.assert_allclose(
                actual.astype(np.float64), want.astype(np.float64), rtol=bound, atol=bound
            )
        else:
            np.testing.assert_array_equal(actual, want)
