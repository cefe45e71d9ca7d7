"""Core ML packages against coremltools' reading of the same bytes."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import numpy as np
import pytest
from coremltools.proto import Model_pb2

from pteron.errors import FileAccessError, FormatError, UnsupportedError
from pteron.payloads import open_payload
from pteron.payloads.coreml.compiled_description import read_compiled
from pteron.payloads.coreml.metadata import MethodNames
from pteron.payloads.coreml.package import BACKEND_ID, CoreMLPackage, directory_source
from pteron.payloads.coreml.reference import ModelReference, read_reference
from pteron.payloads.sources import FilesSource

MANIFEST, MODEL = (
    "model.mlpackage/Manifest.json",
    "model.mlpackage/Data/com.apple.CoreML/model.mlmodel",
)


def packages(corpus: Path) -> list[Path]:
    return sorted(corpus.glob("coreml/*.mlpackage"))


def package_of(files: dict[str, bytes]) -> CoreMLPackage:
    return CoreMLPackage(FilesSource("CoreMLBackend", {k: memoryview(v) for k, v in files.items()}))


def test_a_directory_is_read_as_coremltools_reads_it(corpus: Path):
    for directory in packages(corpus):
        package = CoreMLPackage(directory_source(directory))
        (file,) = directory.glob("Data/*/*.mlmodel")
        theirs = Model_pb2.Model.FromString(file.read_bytes())
        assert package.model.SerializeToString(deterministic=True) == theirs.SerializeToString(
            deterministic=True
        )
        assert package.metadata.names.inputs == tuple(f.name for f in theirs.description.input)
        assert package.metadata.names.outputs == tuple(f.name for f in theirs.description.output)
        assert not package.is_compiled


def test_weights_are_those_coremltools_loads(corpus: Path):
    """The values of every constant, as coremltools' own importer of ML programs sees them."""
    from coremltools.converters.mil.frontend.milproto.load import load as load_program

    from pteron.payloads.coreml.reader import READER

    for directory in packages(corpus):
        (model,) = directory.glob("Data/*/*.mlmodel")
        spec = Model_pb2.Model.FromString(model.read_bytes())
        program = load_program(spec, spec.specificationVersion, str(model.parent / "weights"))
        theirs = {
            op.outputs[0].name: op.outputs[0].val
            for op in program.functions["main"].operations
            if op.op_type == "const"
        }
        constants = READER.constants(directory_source(directory))
        assert constants
        for constant in constants:
            np.testing.assert_array_equal(constant.read(), theirs[constant.name])


def test_executorchs_payload(coreml_program):
    source = open_payload("CoreMLBackend", coreml_program.payloads["forward"])
    package = CoreMLPackage(source)

    assert package.metadata.identifier.startswith("executorch_")
    assert len(package.metadata.names.inputs) == len(package.metadata.names.outputs) == 1
    assert package.program.functions.keys() == {"main"}
    assert source.function is None


def test_a_reference_is_resolved_through_named_data(multifunction_program):
    for method, payload in multifunction_program.payloads.items():
        assert payload.startswith(b"CMJR")
        source = open_payload("CoreMLBackend", payload, multifunction_program.named_data, method)
        package = CoreMLPackage(source)
        assert source.function == method
        assert set(package.metadata.methods) == {"decode", "prefill"}
        assert method in package.program.functions
        assert package.metadata.methods[method].inputs


def test_a_reference_is_written_as_executorch_writes_it(multifunction_program):
    for payload in multifunction_program.payloads.values():
        assert read_reference(memoryview(payload)).to_bytes() == payload


def test_a_reference_to_nothing_says_so(multifunction_program):
    with pytest.raises(FormatError, match=r"named data 'coreml_.*which is not there"):
        open_payload("CoreMLBackend", multifunction_program.payloads["decode"], {})


@pytest.mark.parametrize(
    ("payload", "error", "message"),
    [
        (b"CMJR", FormatError, "model reference: not valid JSON"),
        (b"CMJR{}", UnsupportedError, "version None"),
        (ModelReference("k", "f").to_bytes().replace(b"1", b"2"), UnsupportedError, "version 2"),
        (b'CMJR{"version":1,"functionName":"f"}', FormatError, "key: expected a string"),
        (b'CMJR{"version":1,"key":"k","functionName":7}', FormatError, "functionName: expected"),
    ],
)
def test_bad_references(payload: bytes, error: type[Exception], message: str):
    with pytest.raises(error, match=message):
        open_payload("CoreMLBackend", payload, {"k": b""})


def test_a_compiled_model_has_a_description_and_a_program(corpus: Path):
    package = CoreMLPackage(directory_source(corpus / "coreml/coremltools-add-model.mlmodelc"))
    assert package.is_compiled
    assert list(package.program.functions) == ["main"]
    assert package.model.specificationVersion == 7
    assert package.metadata.names == MethodNames(("x", "y"), ("var_3",))


def test_a_compiled_model_of_another_kind_is_refused():
    files = {"model.mlmodelc/coremldata.bin": memoryview(b"")}
    with pytest.raises(UnsupportedError, match="no ML program"):
        _ = CoreMLPackage(FilesSource(BACKEND_ID, files)).program


def coremldata(kind: int = 502, name: int = 7, size: int = 3, rest: bytes = b"\x0a\x01\x00"):
    head = struct.pack("<II20xQ7sI28x", kind, 5, name, b"generic", 9)
    return memoryview(head + struct.pack("<Q", size) + rest)


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (coremldata()[:60], "too short"),
        (coremldata(kind=500), "kind 500"),
        (coremldata(name=1 << 63), "too short"),
        (coremldata(size=4), "past the end"),
        (coremldata(rest=b"abc"), "no description"),
    ],
)
def test_a_compiled_description_of_another_layout(data: memoryview, message: str):
    with pytest.raises(FormatError, match=message):
        read_compiled(data, "coremldata.bin")


def test_a_compiled_descriptions_version_may_be_any_number():
    data = bytes(coremldata(size=0, rest=b"")).replace(
        b"generic\x09\0\0\0", b"generic" + b"\xff" * 4
    )
    assert read_compiled(memoryview(data), "coremldata.bin").specificationVersion == -1


GOOD_MANIFEST = {
    "itemInfoEntries": {"A": {"path": "com.apple.CoreML/model.mlmodel"}},
    "rootModelIdentifier": "A",
}


@pytest.mark.parametrize(
    ("manifest", "message"),
    [
        (b"", "Manifest.json: not valid JSON"),
        (b"[]", "not a JSON object"),
        (b"{}", "itemInfoEntries: expected an object"),
        (json.dumps({**GOOD_MANIFEST, "rootModelIdentifier": "B"}).encode(), "no item 'B'"),
        (
            json.dumps({**GOOD_MANIFEST, "itemInfoEntries": {"A": {"path": "../x"}}}).encode(),
            "not a name",
        ),
        (json.dumps(GOOD_MANIFEST).encode(), "no file"),
    ],
)
def test_bad_manifests(manifest: bytes, message: str):
    with pytest.raises(FormatError, match=message):
        _ = package_of({MANIFEST: manifest}).model


def test_bad_model_bytes():
    files = {MANIFEST: json.dumps(GOOD_MANIFEST).encode(), MODEL: b"\xff\xff"}
    with pytest.raises(FormatError, match="not a Core ML model"):
        _ = package_of(files).model


def test_another_kind_of_model():
    spec = Model_pb2.Model(specificationVersion=1)
    spec.neuralNetwork.SetInParent()
    manifest = json.dumps(GOOD_MANIFEST).encode()
    package = package_of({MANIFEST: manifest, MODEL: spec.SerializeToString()})
    with pytest.raises(UnsupportedError, match="no ML program but an older kind"):
        _ = package.program


def test_a_weight_file_that_is_not_there(corpus: Path):
    package = CoreMLPackage(directory_source(packages(corpus)[0]))
    with pytest.raises(FormatError, match="has no file"):
        package.weights("@model_path/weights/other.bin")
    with pytest.raises(FormatError, match="has no file"):
        package.weights("@model_path/../../../../../etc/passwd")


@pytest.mark.parametrize(
    ("metadata", "message"),
    [
        (b"{}", "identifier: expected a string"),
        (b'{"identifier": "a", "inputNames": "x"}', "inputNames: expected a list"),
        (b'{"identifier": "a", "inputNames": ["x", 1]}', r"inputNames\[1\]: expected a string"),
        (b'{"identifier": "a", "methods": []}', "methods: expected an object"),
        (b'{"identifier": "a", "methods": {"f": 1}}', "'f': expected an object"),
    ],
)
def test_bad_metadata(metadata: bytes, message: str):
    with pytest.raises(FormatError, match=message):
        _ = package_of({"metadata.json": metadata}).metadata


def test_metadata_is_written_so_that_it_reads_alike(coreml_program, multifunction_program):
    single = open_payload("CoreMLBackend", coreml_program.payloads["forward"])
    several = open_payload(
        "CoreMLBackend",
        multifunction_program.payloads["decode"],
        multifunction_program.named_data,
    )
    for source in (single, several):
        theirs = json.loads(bytes(source.read("metadata.json")))
        assert json.loads(CoreMLPackage(source).metadata.to_bytes()) == theirs


def test_no_such_directory(tmp_path: Path):
    with pytest.raises(FileAccessError, match="not a directory"):
        directory_source(tmp_path / "nothing.mlpackage")
