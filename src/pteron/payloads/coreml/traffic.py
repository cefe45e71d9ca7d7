"""How many bytes of weights a call of a function has to read."""

from __future__ import annotations

from collections.abc import Iterator

from pteron.errors import FormatError
from pteron.payloads.coreml.package import CoreMLPackage
from pteron.payloads.coreml.proto import mil_pb2 as mil

_TABLES = {"gather": "x", "gather_along_axis": "x", "gather_nd": "x"}
"""Operations that read a few rows of a table: their input that is the table."""


def weights_read(package: CoreMLPackage, function: str) -> int:
    """Bytes of blobs, as they are stored, that a call reads whole.

    Not counted are tables of which the function only gathers rows. Blobs that cannot be found
    count as nothing: this measures, it does not check.
    """
    if package.is_pipeline:
        return sum(weights_read(stage, function) for stage in package.stages)
    proto = package.program.functions[function]
    blocks = proto.block_specializations.values()
    operations = [operation for block in blocks for operation in _operations(block)]
    read = {name for operation in operations for name in _read_whole(operation)}
    blobs = {
        (blob.fileName, blob.offset)
        for operation in operations
        if operation.type != "const" or any(output.name in read for output in operation.outputs)
        for blob in _blobs(operation)
    }
    return sum(_size(package, *blob) for blob in blobs)


def _operations(block: mil.Block) -> Iterator[mil.Operation]:
    for operation in block.operations:
        yield operation
        for inner in operation.blocks:
            yield from _operations(inner)


def _read_whole(operation: mil.Operation) -> Iterator[str]:
    table = _TABLES.get(operation.type)
    for name, argument in operation.inputs.items():
        if name != table:
            yield from (binding.name for binding in argument.arguments if binding.name)


def _blobs(operation: mil.Operation) -> Iterator[mil.Value.BlobFileValue]:
    bindings = [b.value for a in operation.inputs.values() for b in a.arguments]
    for value in (*operation.attributes.values(), *bindings):
        if value.WhichOneof("value") == "blobFileValue":
            yield value.blobFileValue


def _size(package: CoreMLPackage, file_name: str, offset: int) -> int:
    try:
        return package.weights(file_name).record(offset).size
    except FormatError:
        return 0
