"""Compiled Core ML models (``.mlmodelc``): what they say of themselves.

Core ML's compiler writes ``metadata.json``: a list of one object with ``inputSchema``,
``outputSchema`` and ``stateSchema`` (lists of ``name``, ``dataType`` such as ``Float16``, and
``shape`` as text such as ``[1, 4]``), ``mlProgramOperationTypeHistogram`` and
``specificationVersion``. The description Core ML itself goes by is in ``coremldata.bin``, an ML
program's text in ``model.mil``.
"""

from __future__ import annotations

from typing import Any

from pteron.errors import FormatError
from pteron.payloads.base import PayloadSource
from pteron.payloads.coreml.compiled_description import read_compiled
from pteron.payloads.coreml.proto.model_pb2 import Model
from pteron.payloads.reader import FunctionSummary, PayloadSummary, ValueSummary
from pteron.payloads.strict_json import count, mapping, parse, string

PROGRAM = "model.mil"
DESCRIPTION, _METADATA = "coremldata.bin", "metadata.json"


def describe(source: PayloadSource, folder: str) -> Model:
    """A compiled ML program's model, its program left out.

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
