"""Compiled Core ML models (``.mlmodelc``): what they say of themselves.

Core ML's compiler writes ``metadata.json``: a list of one object with ``inputSchema``,
``outputSchema`` and ``stateSchema`` (lists of ``name``, ``dataType`` such as ``Float16``, and
``shape`` as text such as ``[1, 4]``), ``mlProgramOperationTypeHistogram`` and
``specificationVersion``. The description Core ML itself goes by is in ``coremldata.bin``, an ML
program's text in ``model.mil``. A pipeline has no text of its own but directories ``model0``,
``model1``, ..., one for each of its models in order, each with ``coremldata.bin``, ``model.mil``
and ``weights/N-weight.bin``: that is how published ones are listed.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from typing import Any

from pteron.errors import FormatError, UnsupportedError
from pteron.payloads.base import PayloadSource
from pteron.payloads.coreml.compiled_description import read_compiled
from pteron.payloads.coreml.program import operations, values
from pteron.payloads.coreml.proto.mil_pb2 import Program
from pteron.payloads.coreml.proto.model_pb2 import Model
from pteron.payloads.coreml.text import parse_program
from pteron.payloads.reader import FunctionSummary, PayloadSummary, ValueSummary
from pteron.payloads.strict_json import count, mapping, parse, string

PROGRAM = "model.mil"
MODEL_PATH = "@model_path/"
DESCRIPTION, _METADATA = "coremldata.bin", "metadata.json"


def read_model(source: PayloadSource, folder: str) -> Model:
    """The compiled model in a folder, its program parsed; of a pipeline, all of its models.

    Weight files are named from the outermost folder on. Raises UnsupportedError where a model is
    no ML program, FormatError for what is damaged.
    """
    paths = source.paths()
    if f"{folder}/{PROGRAM}" in paths:
        model = describe(source, folder)
        program = parse_program(source.read(f"{folder}/{PROGRAM}"), f"{folder}/{PROGRAM}")
        _name_weights(program, folder)
        model.mlProgram.CopyFrom(program)
        return model
    stages = list(_stages(paths, folder))
    if not stages:
        raise UnsupportedError(f"the compiled model {folder} is no ML program")
    model = describe(source, folder)
    model.pipeline.models.extend(read_model(source, stage) for stage in stages)
    return model


def _stages(paths: Sequence[str], folder: str) -> Iterator[str]:
    """The folders of a pipeline's models, in order."""
    for index in itertools.count():
        stage = f"{folder}/model{index}"
        if not any(path.startswith(f"{stage}/") for path in paths):
            return
        yield stage


def _name_weights(program: Program, folder: str) -> None:
    inner = folder.partition("/")[2]
    if not inner:
        return
    for function in program.functions.values():
        for operation in operations(function):
            for _, value in values(operation):
                if value.WhichOneof("value") == "blobFileValue":
                    name = value.blobFileValue.fileName.removeprefix(MODEL_PATH)
                    value.blobFileValue.fileName = f"{MODEL_PATH}{inner}/{name}"


def describe(source: PayloadSource, folder: str) -> Model:
    """A compiled model, its program left out.

    ``coremldata.bin`` has no published layout: where it is another than we know, ``metadata.json``
    still has the names of inputs and outputs in order, though no bounds, defaults or images.
    """
    where = f"{folder}/{DESCRIPTION}"
    try:
        return read_compiled(source.read(where), where)
    except FormatError:
        where = f"{folder}/{_METADATA}"
        summary = summarise_compiled(source.read(where), where).functions[0]
    model = Model()
    for value in summary.inputs:
        model.description.input.add(name=value.name)
    for value in summary.outputs:
        model.description.output.add(name=value.name)
    return model


def summarise_compiled(description: memoryview, where: str) -> PayloadSummary:
    """Signature and operation counts from a compiled model's ``metadata.json``."""
    models = parse(bytes(description), where)
    if not isinstance(models, list) or not models:
        raise FormatError("describes no model", where=where)
    fields = mapping(models[0], where)
    operations = mapping(fields.get("mlProgramOperationTypeHistogram", {}), where)
    function = FunctionSummary(
        name="main",
        inputs=_values(fields, "inputSchema", where),
        outputs=_values(fields, "outputSchema", where),
        states=_values(fields, "stateSchema", where),
        operations={name: count(number, where) for name, number in operations.items()},
    )
    version = fields.get("specificationVersion")
    return PayloadSummary(f"compiled Core ML model, specification {version!r:.20}", (function,))


def _values(fields: dict[str, Any], schema: str, where: str) -> tuple[ValueSummary, ...]:
    listed = fields.get(schema, [])
    if not isinstance(listed, list):
        raise FormatError("expected a list", where=f"{where}: {schema}")
    return tuple(_value(mapping(item, where), f"{where}: {schema}") for item in listed)


def _value(item: dict[str, Any], where: str) -> ValueSummary:
    shape = parse(string(item.get("shape") or "[]", where).encode("utf-8"), where)
    if not isinstance(shape, list):
        raise FormatError("a shape that is no list", where=where)
    return ValueSummary(
        name=string(item.get("name"), where),
        dtype=string(item.get("dataType", ""), where).lower(),
        shape=tuple(count(size, where) for size in shape),
    )
