"""Several methods' delegates as one Core ML package: a function each, equal weights stored once.

The file keeps the package in named data under ``coreml_<identifier>``; each delegate's own payload
is a reference to one of its functions (:mod:`pteron.payloads.coreml.reference`). Source of the
layout: ExecuTorch's ``backends/apple/coreml/compiler/coreml_preprocess.py``; of the package's:
coremltools' ``MultiFunctionDescriptor``. Needs iOS 18.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pteron.lowering.coreml.convert import Converted
from pteron.lowering.coreml.payload import image, named
from pteron.lowering.coreml.weight_pool import WeightPool
from pteron.payloads.coreml.metadata import Metadata, MethodNames
from pteron.payloads.coreml.program import operations
from pteron.payloads.coreml.proto import mil_pb2 as mil
from pteron.payloads.coreml.proto.model_pb2 import FunctionDescription, Model
from pteron.payloads.coreml.reference import ModelReference
from pteron.payloads.coreml.weights import WeightFile


@dataclass(frozen=True)
class Joined:
    """A package of several functions.

    Attributes:
        key: of the named data that holds it.
        data: the payload that references stand for.
        references: function name -> payload of the delegate that calls it.
        common: bytes of weights that are stored once instead of again.
    """

    key: str
    data: bytes
    references: Mapping[str, bytes]
    common: int


def join(parts: Mapping[str, Converted]) -> Joined:
    """One package with a function for each part, the first being the default."""
    pool = WeightPool()
    model = Model()
    for name, part in parts.items():
        _add(model, name, part, pool)
    model.description.defaultFunctionName = next(iter(parts))
    content, weights = model.SerializeToString(deterministic=True), pool.to_bytes()
    identifier = named(content + weights)
    metadata = Metadata(
        identifier, methods={n: MethodNames(p.inputs, p.outputs) for n, p in parts.items()}
    )
    key = f"coreml_{identifier}"
    return Joined(
        key=key,
        data=image(content, weights, metadata),
        references={name: ModelReference(key, name).to_bytes() for name in parts},
        common=pool.common,
    )


def _add(model: Model, name: str, part: Converted, pool: WeightPool) -> None:
    source = Model.FromString(part.model)
    model.specificationVersion = max(model.specificationVersion, source.specificationVersion)
    described = source.description
    model.description.functions.append(
        FunctionDescription(
            name=name, input=described.input, output=described.output, state=described.state
        )
    )
    (function,) = source.mlProgram.functions.values()
    if part.weights:
        file = WeightFile(memoryview(part.weights))
        for value in _blob_values(function):
            value.blobFileValue.offset = pool.add(file, value.blobFileValue.offset)
    model.mlProgram.version = source.mlProgram.version
    model.mlProgram.functions[name].CopyFrom(function)
    for key, value in source.mlProgram.attributes.items():
        model.mlProgram.attributes[key].CopyFrom(value)


def _blob_values(function: mil.Function) -> Iterator[Any]:
    """Every value of a function that lies in its weight file."""
    for operation in operations(function):
        arguments = [a for argument in operation.inputs.values() for a in argument.arguments]
        values = [a.value for a in arguments if a.WhichOneof("binding") == "value"]
        for value in [*operation.attributes.values(), *values]:
            if value.WhichOneof("value") == "blobFileValue":
                yield value
