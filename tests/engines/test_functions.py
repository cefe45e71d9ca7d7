"""Several functions in one payload, flexible shapes, a classifier: written into the protobuf."""

from __future__ import annotations

import numpy as np
import pytest

from pteron.engines.base import EngineOptions
from pteron.errors import EngineError, UsageError
from pteron.payloads.coreml.package import BACKEND_ID
from pteron.payloads.coreml.proto import mil_pb2 as mil
from pteron.payloads.coreml.proto.model_pb2 import Model
from pteron.payloads.sources import FilesSource
from tests.engines.converted import compile_and_load
from tests.engines.oneop import _MANIFEST, ENGINE, constant, operation, type_of

HALF = np.zeros((1, 3), np.float16)


def stateful(function: mil.Function, with_input: bool) -> None:
    """``s += x`` where there is an input; ``out0`` is twice the state."""
    function.opset = "CoreML8"
    block = function.block_specializations["CoreML8"]
    function.inputs.add(name="s").type.stateType.wrappedType.CopyFrom(type_of(HALF))
    read = block.operations.add(type="read_state")
    read.inputs["input"].arguments.add().name = "s"
    read.outputs.add(name="now", type=type_of(HALF))
    if with_input:
        function.inputs.add(name="x", type=type_of(HALF))
        add = block.operations.add(type="add")
        add.inputs["x"].arguments.add().name = "now"
        add.inputs["y"].arguments.add().name = "x"
        add.outputs.add(name="new", type=type_of(HALF))
        write = block.operations.add(type="write_state")
        write.inputs["input"].arguments.add().name = "s"
        write.inputs["data"].arguments.add().name = "new"
    double = block.operations.add(type="mul")
    double.inputs["x"].arguments.add().name = "new" if with_input else "now"
    double.inputs["y"].arguments.add().value.CopyFrom(constant(np.float16(2)))
    double.outputs.add(name="out0", type=type_of(HALF))
    block.outputs.append("out0")


def payload(model: Model) -> FilesSource:
    model.specificationVersion = 9
    model.mlProgram.version = 1
    files = {
        "model.mlpackage/Manifest.json": memoryview(_MANIFEST),
        "model.mlpackage/Data/model.mlmodel": memoryview(model.SerializeToString()),
    }
    return FilesSource(BACKEND_ID, files)


@pytest.fixture(params=["memory", "files"])
def two_functions(request, tmp_path):
    model = Model()
    model.description.defaultFunctionName = "step"
    for name, with_input in (("look", False), ("step", True)):
        stateful(model.mlProgram.functions[name], with_input)
        described = model.description.functions.add(name=name)
        described.output.add(name="out0")
        if with_input:
            described.input.add(name="x")
    source = payload(model)
    if request.param == "memory":
        return ENGINE.compile_in_memory(source, EngineOptions())
    return compile_and_load(source, EngineOptions(), tmp_path)


def test_functions_share_their_states_within_a_session(two_functions) -> None:
    assert list(two_functions.functions) == ["step", "look"]
    session, other = two_functions.new_session(), two_functions.new_session()
    x = np.float16([[1, 2, 3]])
    np.testing.assert_array_equal(session.run("look", [])[0], 0 * x)
    session.run("step", [x])
    np.testing.assert_array_equal(session.run("look", [])[0], 2 * x)
    np.testing.assert_array_equal(session.run("step", [x])[0], 4 * x)
    np.testing.assert_array_equal(session.run("look", [])[0], 4 * x)
    np.testing.assert_array_equal(session.read_state("s"), 2 * x)
    session.write_state("s", 5 * x)
    np.testing.assert_array_equal(session.run("look", [])[0], 10 * x)
    session.reset_state("s")
    np.testing.assert_array_equal(session.run("step", [x])[0], 2 * x)
    np.testing.assert_array_equal(other.run("look", [])[0], 0 * x)


@pytest.mark.parametrize("kind", ["range", "enumerated"])
def test_flexible_inputs_take_what_their_bounds_allow(kind) -> None:
    model = Model()
    x = np.zeros((2, 3), np.float32)
    function = model.mlProgram.functions["main"]
    function.opset = "CoreML8"
    function.inputs.add(name="x0", type=type_of(x))
    flexible = mil.Dimension(unknown=mil.Dimension.UnknownDimension())
    op = operation("relu", {"x": x}, {}, [x])
    for proto in (function.inputs[0], op.outputs[0]):
        proto.type.tensorType.dimensions[0].CopyFrom(flexible)
    block = function.block_specializations["CoreML8"]
    block.operations.append(op)
    block.outputs.append("out0")
    array = model.description.input.add(name="x0").type.multiArrayType
    model.description.output.add(name="out0")
    if kind == "range":
        for low, high in ((2, 4), (3, 3)):
            array.shapeRange.sizeRanges.add(lowerBound=low, upperBound=high)
    else:
        for rows in (2, 4):
            array.enumeratedShapes.shapes.add(shape=[rows, 3])
    compiled = ENGINE.compile_in_memory(payload(model), EngineOptions())
    (info,) = compiled.functions["main"].inputs
    assert info.shapes == (((2, 3), (4, 3)) if kind == "enumerated" else ())
    assert (info.shape, info.range) == ((None, 3), ((2, 4), (3, 3)))
    session = compiled.new_session()
    for rows in (2, 4):
        given = np.full((rows, 3), -1.5, np.float32)
        assert session.run("main", [given])[0].shape == (rows, 3)
    wanted = {"range": r"float32\[2\.\.4, 3\]", "enumerated": r"float32\[2, 3\] or \[4, 3\]"}
    between = [(3, 3)] if kind == "enumerated" else []
    for shape in ((1, 3), (5, 3), (2, 4), *between):
        with pytest.raises(UsageError, match=wanted[kind]):
            session.run("main", [np.zeros(shape, np.float32)])


@pytest.mark.parametrize("labels", [np.array(["cat", "dog", "owl"]), np.array([3, 5, 9])])
def test_a_classifier_gives_its_label_and_every_probability(labels, tmp_path) -> None:
    model = Model()
    x = np.zeros((1, 3), np.float32)
    function = model.mlProgram.functions["main"]
    function.opset = "CoreML8"
    function.inputs.add(name="probabilities0", type=type_of(x))
    op = mil.Operation(type="classify")
    op.inputs["probabilities"].arguments.add().name = "probabilities0"
    classes = op.inputs["classes"].arguments.add().value
    is_text = labels.dtype.kind == "U"
    kind = mil.STRING if is_text else mil.INT64
    scalar = mil.ValueType(tensorType=mil.TensorType(dataType=kind, rank=0))
    classes.type.listType.type.CopyFrom(scalar)
    classes.type.listType.length.constant.size = 3
    for label in labels.tolist():
        item = classes.immediateValue.list.values.add(type=scalar).immediateValue.tensor
        (item.strings if is_text else item.longInts).values.append(label)
    op.outputs.add(name="label", type=scalar)
    named = op.outputs.add(name="all")
    named.type.dictionaryType.keyType.CopyFrom(scalar)
    named.type.dictionaryType.valueType.CopyFrom(type_of(np.float32(0)))
    block = function.block_specializations["CoreML8"]
    block.operations.append(op)
    block.outputs.extend(["label", "all"])
    source = payload(model)
    ENGINE.compile(source, EngineOptions(), tmp_path)
    for compiled in (
        ENGINE.compile_in_memory(source, EngineOptions()),
        ENGINE.load(source, EngineOptions(), tmp_path),
    ):
        given = np.float32([[0.25, 0.5, 0.25]])
        label, every = compiled.new_session().run("main", [given])
        assert label.item() == labels[1]
        assert every.item() == dict(zip(labels.tolist(), [0.25, 0.5, 0.25], strict=True))


@pytest.mark.parametrize("rows", [1, None])
def test_classes_and_probabilities_are_as_many(rows) -> None:
    model = Model()
    x = np.zeros((1, 3), np.float32)
    function = model.mlProgram.functions["main"]
    function.opset = "CoreML8"
    function.inputs.add(name="probabilities0", type=type_of(x))
    if rows is None:
        function.inputs[0].type.tensorType.dimensions[0].unknown.SetInParent()
    op = operation("classify", {"probabilities": x}, {"classes": np.array(["cat", "dog"])}, [])
    op.outputs.add(name="label", type=type_of(np.array("cat")))
    block = function.block_specializations["CoreML8"]
    block.operations.append(op)
    block.outputs.append("label")
    with pytest.raises(EngineError, match="main"):
        compiled = ENGINE.compile_in_memory(payload(model), EngineOptions())
        compiled.new_session().run("main", [x])


def test_the_state_op_that_coremltools_has_in_memory() -> None:
    """``coreml_update_state`` gives what it writes; packages have ``write_state`` in its place."""
    model = Model()
    function = model.mlProgram.functions["main"]
    function.opset = "CoreML8"
    function.inputs.add(name="s").type.stateType.wrappedType.CopyFrom(type_of(HALF))
    function.inputs.add(name="x", type=type_of(HALF))
    block = function.block_specializations["CoreML8"]
    update = block.operations.add(type="coreml_update_state")
    update.inputs["state"].arguments.add().name = "s"
    update.inputs["value"].arguments.add().name = "x"
    update.outputs.add(name="out0", type=type_of(HALF))
    block.outputs.append("out0")
    session = ENGINE.compile_in_memory(payload(model), EngineOptions()).new_session()
    x = np.float16([[1, 2, 3]])
    np.testing.assert_array_equal(session.run("main", [x])[0], x)
    np.testing.assert_array_equal(session.read_state("s"), x)
