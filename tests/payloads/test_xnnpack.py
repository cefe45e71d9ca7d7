"""XNNPACK payloads against ExecuTorch's own schema, decoded by its own FlatBuffers compiler."""

from __future__ import annotations

import json
import re
from collections import Counter
from importlib import resources
from pathlib import Path

import numpy as np
import pytest

from pteron.errors import FormatError
from pteron.payloads import find_reader, open_payload
from pteron.payloads.xnnpack.elements import read_elements
from pteron.payloads.xnnpack.graph import Use
from pteron.payloads.xnnpack.layout import read_graph, read_layout
from pteron.payloads.xnnpack.schema import DATA_TYPES, NODE_KINDS
from tests.files.made import mlp

READER = find_reader("XnnpackBackend")
KINDS = ["xnnpack_program", pytest.param("quantised_program", marks=pytest.mark.slow)]


def schema_text() -> str:
    package = "executorch.backends.xnnpack.serialization"
    return resources.files(package).joinpath("schema.fbs").read_text()


def theirs(payload: bytes, folder: Path) -> dict:
    """The graph as JSON, by ExecuTorch's flatc with the schema its writer uses."""
    from executorch.backends.xnnpack.serialization.xnnpack_graph_serialize import XNNHeader
    from executorch.exir._serialize._flatbuffer import _flatc_decompile

    header = XNNHeader.from_bytes(payload[: XNNHeader.EXPECTED_LENGTH])
    start = header.flatbuffer_offset
    (folder / "schema.fbs").write_text(schema_text())
    (folder / "graph.bin").write_bytes(payload[start : start + header.flatbuffer_size])
    _flatc_decompile(str(folder), str(folder / "schema.fbs"), str(folder / "graph.bin"))
    text = (folder / "graph.json").read_text()
    return json.loads(re.sub(r"(?<=: )(-?)inf\b", r"\1Infinity", text))


def tensor_of(value: dict) -> dict:
    union = value["xvalue_union"]
    return union.get("tensor_value", union)


def test_declared_names_are_the_schemas():
    text = schema_text()
    enum = re.search(r"enum XNNDatatype : short \{(.*?)\}", text, re.S)[1]
    numbers = dict(re.findall(r"xnn_datatype_(\w+) = (\d+)", enum))
    renamed = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}
    assert [renamed.get(name, name) for name in numbers] == DATA_TYPES
    assert list(map(int, numbers.values())) == list(range(len(DATA_TYPES)))
    union = re.search(r"union XNodeUnion \{(.*?)\}", text, re.S)[1]
    assert [f"XNN{name}" for name in NODE_KINDS] == re.findall(r"^\s*(XNN\w+)", union, re.M)


@pytest.mark.parametrize("kind", KINDS)
def test_graph_is_decoded_as_executorch_decodes_it(
    request: pytest.FixtureRequest, tmp_path: Path, kind: str
):
    program = request.getfixturevalue(kind)
    payload = program.payloads["forward"]
    expected = theirs(payload, tmp_path)

    view = memoryview(payload)
    graph = read_graph(view, read_layout(view))
    source = open_payload("XnnpackBackend", payload, program.named_data)
    (function,) = READER.summary(source).functions

    assert graph.input_ids == expected["input_ids"]
    assert graph.output_ids == expected["output_ids"]
    assert [(c.offset, c.size, c.named_key) for c in graph.constant_data] == [
        (c["offset"], c["size"], c.get("named_key", "")) for c in expected["constant_data"]
    ]
    kinds = [node["xnode_union_type"].removeprefix("XNN") for node in expected["xnodes"]]
    assert function.operations == Counter(kinds)
    tensors = {t["id_out"]: t for t in map(tensor_of, expected["xvalues"])}
    assert [v.shape for v in function.inputs] == [
        tuple(tensors[i]["dims"]) for i in expected["input_ids"]
    ]
    used = {t["constant_buffer_idx"] for t in tensors.values()} - {0}
    constants = READER.constants(source)
    assert {c.name for c in constants if "scales" not in c.name} == {
        f"tensor {t['id_out']}" for t in tensors.values() if t["constant_buffer_idx"] in used
    }


def test_float_weights_are_the_models(xnnpack_program):
    named = xnnpack_program.named_data
    source = open_payload("XnnpackBackend", xnnpack_program.payloads["forward"], named)
    weights = mlp().state_dict()
    found = {c.shape: c.read() for c in READER.constants(source)}
    for name in ("0.weight", "0.bias", "2.weight", "2.bias"):
        expected = weights[name].numpy()
        np.testing.assert_array_equal(found[expected.shape], expected)


@pytest.mark.slow
def test_quantised_weights_times_scales_are_the_models(quantised_program):
    named = quantised_program.named_data
    source = open_payload("XnnpackBackend", quantised_program.payloads["forward"], named)
    constants = {c.name: c for c in READER.constants(source)}
    quantised = [c for c in constants.values() if c.dtype == "qcint8"]
    assert len(quantised) == 2
    weights = {tuple(v.shape): v.numpy() for v in mlp().state_dict().values()}
    for constant in quantised:
        scales = constants[f"{constant.name} scales"].read()
        restored = constant.read() * scales[:, None]
        error = np.abs(restored - weights[constant.shape])
        assert (error <= scales[:, None] / 2 + 1e-6).all()


@pytest.mark.parametrize("kind", KINDS)
def test_parts_cover_the_payload_and_its_named_data(request: pytest.FixtureRequest, kind: str):
    program = request.getfixturevalue(kind)
    payload = memoryview(program.payloads["forward"])
    named = {key: memoryview(data) for key, data in program.named_data.items()}
    part = READER.parts(payload, named)
    assert part.size == len(payload) == sum(child.size for child in part.children)
    blobs = READER.named_parts(payload, named)
    assert blobs.keys() == named.keys()
    assert all(blobs[key].size == len(named[key]) for key in named)
    assert all(blob.shape for blob in blobs.values())


def test_named_data_that_is_elsewhere_is_left_out(xnnpack_program):
    source = open_payload("XnnpackBackend", xnnpack_program.payloads["forward"])
    assert READER.constants(source) == []


def test_a_corpus_program(corpus: Path, decode):
    program = decode((corpus / "dynamic-shape.pte").read_bytes())
    (payload,) = program.payloads.values()
    (function,) = READER.summary(open_payload("XnnpackBackend", payload)).functions
    assert sum(function.operations.values()) > 0


def test_four_bit_rows_start_on_a_byte():
    values = np.array([[-8, 7, 3], [0, -1, 5]], np.int8)
    padded = np.pad(values, ((0, 0), (0, 1))).astype(np.uint8) + 8
    data = (padded[:, 0::2] | padded[:, 1::2] << 4).tobytes()
    use = Use("tensor 1", "qcint4", (2, 3))
    np.testing.assert_array_equal(read_elements(memoryview(data), use), values, strict=True)
    with pytest.raises(FormatError, match="4 expected"):
        read_elements(memoryview(data + b"\0"), use)


@pytest.mark.parametrize(
    ("payload", "message"),
    [
        (b"", "none of XNNPACK's"),
        (b"\0\0\0\0XH00", "less than the header"),
        (b"\0\0\0\0XH00\x1e\0" + b"\xff" * 20, "do not follow one another"),
        (b"\0\0\0\0XH00\0\0" + bytes(20), "do not follow one another"),
        (b"\0\0\0\0XH00\x1e\0" + b"\x1e\0\0\0\0\0\0\0\x1e\0\0\0" + bytes(8), "none of XNN"),
        (b"\x08\0\0\0XN01", "past the end"),
    ],
)
def test_faults_are_format_errors(payload: bytes, message: str):
    with pytest.raises(FormatError, match=message):
        open_payload("XnnpackBackend", payload)
