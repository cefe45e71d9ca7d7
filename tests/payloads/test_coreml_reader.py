"""What a Core ML payload is made of, and its summary."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path

import pytest
from coremltools.proto import Model_pb2

from pteron.errors import FormatError
from pteron.payloads import find_reader, open_payload
from pteron.payloads.coreml.memfs import flatten
from pteron.payloads.coreml.package import directory_source
from pteron.payloads.sources import FilesSource

READER = find_reader("CoreMLBackend")


def check_sums(part):
    for inner in part.walk():
        assert inner.size > 0
        if inner.children:
            assert sum(child.size for child in inner.children) == inner.size
            position = inner.offset
            for child in inner.children:
                assert child.offset == position
                position += child.size


def weights_of(part):
    return {p.name: p for p in part.walk() if p.kind == "weight"}


def test_parts_of_corpus_packages_sum_and_name_every_weight(corpus: Path):
    for directory in corpus.glob("coreml/*.mlpackage"):
        source = directory_source(directory)
        payload = memoryview(flatten(source.files))
        part = READER.parts(payload, {})
        assert (part.offset, part.size) == (0, len(payload))
        check_sums(part)
        weights = weights_of(part)
        for constant in READER.constants(source):
            found = weights[constant.name]
            assert (found.dtype, found.shape) == (constant.dtype, constant.shape)
            assert payload[found.offset : found.offset + found.size] == constant.data


def test_parts_of_a_compiled_model_name_its_weights(corpus: Path):
    source = directory_source(corpus / "coreml/silero-vad-256ms-int8.mlmodelc")
    part = READER.parts(memoryview(flatten(source.files)), {})
    check_sums(part)
    weights = weights_of(part)
    assert weights["concat_1_quantized.scale"].shape == (512,)
    assert set(weights) == {constant.name for constant in READER.constants(source)}


def plain(operation: str) -> str:
    """Core ML's compiler writes ``Ios16.add``, but ``ExpandDims``."""
    return operation.rpartition(".")[2].replace("_", "").lower()


def test_summary_of_compiled_models(corpus: Path):
    for directory in sorted(corpus.glob("coreml/*.mlmodelc")):
        theirs = json.loads((directory / "metadata.json").read_text())[0]
        summary = READER.summary(directory_source(directory))
        (function,) = summary.functions
        assert summary.format == "compiled Core ML model, specification 7"
        counted = {plain(n): k for n, k in theirs["mlProgramOperationTypeHistogram"].items()}
        ours = {plain(n): k for n, k in function.operations.items() if n != "const"}
        assert ours == counted
        for values, schema in (
            (function.inputs, "inputSchema"),
            (function.outputs, "outputSchema"),
        ):
            assert {v.name: str(list(v.shape)) for v in values} == {
                item["name"]: item["shape"] for item in theirs[schema]
            }


@pytest.mark.parametrize(
    ("description", "message"),
    [
        (b"", "not valid JSON"),
        (b"[]", "describes no model"),
        (b"{}", "describes no model"),
        (b"[1]", "expected an object"),
        (b'[{"inputSchema": 1}]', "inputSchema: expected a list"),
        (b'[{"inputSchema": [{"name": "x", "shape": "{}"}]}]', "a shape that is no list"),
        (b'[{"inputSchema": [{"name": "x", "shape": "[-1]"}]}]', "from 0 up"),
        (b'[{"inputSchema": [{"shape": "[1]"}]}]', "expected a string"),
        (b'[{"mlProgramOperationTypeHistogram": {"a": "b"}}]', "from 0 up"),
    ],
)
def test_damaged_descriptions_of_compiled_models(description: bytes, message: str):
    files = {"model.mlmodelc/metadata.json": memoryview(description)}
    with pytest.raises(FormatError, match=message):
        READER.summary(FilesSource("CoreMLBackend", files))


def test_summary_counts_what_coremltools_sees(corpus: Path):
    for directory in corpus.glob("coreml/*.mlpackage"):
        (file,) = directory.glob("Data/*/*.mlmodel")
        spec = Model_pb2.Model.FromString(file.read_bytes())
        counts: Counter[str] = Counter()

        def count(block, counts=counts):
            for operation in block.operations:
                counts[operation.type] += 1
                for inner in operation.blocks:
                    count(inner)

        main = spec.mlProgram.functions["main"]
        count(main.block_specializations[main.opset])
        (function,) = READER.summary(directory_source(directory)).functions
        assert function.operations == counts
        assert [v.name for v in function.inputs] == [f.name for f in spec.description.input]
        assert [v.name for v in function.outputs] == [f.name for f in spec.description.output]


def test_summary_of_a_stateful_payload(stateful_program):
    source = open_payload("CoreMLBackend", stateful_program.payloads["forward"])
    summary = READER.summary(source)
    (function,) = summary.functions
    (state,) = function.states
    assert summary.format == "Core ML program, specification 9"
    assert (state.dtype, state.shape) == ("float16", (4, 8))
    assert [value.shape for value in function.inputs] == [(4, 8)]
    assert [value.shape for value in function.outputs] == [(4, 8)]
    assert function.operations["read_state"] >= 1


def test_a_shared_model_is_named_data(multifunction_program):
    for payload in map(memoryview, multifunction_program.payloads.values()):
        named = {k: memoryview(v) for k, v in multifunction_program.named_data.items()}
        own = READER.parts(payload, named)
        assert (own.kind, own.size) == ("reference", len(payload))
        (key, part), *rest = READER.named_parts(payload, named).items()
        assert not rest
        assert part.size == len(named[key])
        check_sums(part)
        assert {"float16"} == {p.dtype for p in weights_of(part).values()}
        assert READER.named_parts(payload, {}) == {}


def test_functions_share_weights_by_name(multifunction_program):
    source = open_payload(
        "CoreMLBackend",
        multifunction_program.payloads["prefill"],
        multifunction_program.named_data,
    )
    assert [f.name for f in READER.summary(source).functions] == ["decode", "prefill"]
    names = [constant.name for constant in READER.constants(source)]
    assert {name.split("/")[0] for name in names} == {"decode", "prefill"}


@pytest.mark.parametrize("cut", [0.2, 0.5, 0.9])
def test_a_damaged_weight_file_is_a_format_error(coreml_program, cut: float):
    source = open_payload("CoreMLBackend", coreml_program.payloads["forward"])
    files = {
        path: bytes(data)[: int(len(data) * cut)] if path.endswith("weight.bin") else data
        for path, data in source.files.items()
    }
    damaged = memoryview(flatten(files))
    with pytest.raises(FormatError):
        READER.parts(damaged, {})
    with pytest.raises(FormatError):
        READER.constants(open_payload("CoreMLBackend", damaged))
