"""Walking an ML program: its operations, signatures, and the blobs it refers to."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from pteron.errors import FormatError
from pteron.payloads.coreml.proto import mil_pb2 as mil
from pteron.payloads.reader import FunctionSummary, ValueSummary


@dataclass(frozen=True)
class BlobUse:
    """A constant that lies in a weight file.

    Attributes:
        name: of the value; with the attribute's name behind it unless that is ``val``.
        operation: type of the operation that reads it (``const``, ``constexpr_lut_to_dense``).
        file_name, offset: the weight file and the offset of the blob's record in it.
        dtype: MIL's name of the element type, lower case.
        shape: sizes of its axes.
    """

    name: str
    operation: str
    file_name: str
    offset: int
    dtype: str
    shape: tuple[int, ...]


def active_block(function: mil.Function) -> mil.Block:
    """The block that a function executes. Raises FormatError when it is missing."""
    if function.opset not in function.block_specializations:
        raise FormatError(f"no block for the function's opset {function.opset!r:.80}")
    return function.block_specializations[function.opset]


def operations(function: mil.Function) -> Iterator[mil.Operation]:
    """Every operation in order, those of nested blocks after the operation that holds them."""
    queue = [iter(active_block(function).operations)]
    while queue:
        operation = next(queue[-1], None)
        if operation is None:
            queue.pop()
            continue
        yield operation
        queue.extend(iter(block.operations) for block in reversed(operation.blocks))


def blob_uses(function: mil.Function) -> Iterator[BlobUse]:
    """Every constant of a function that lies in a weight file, in program order."""
    for operation in operations(function):
        for label, value in values(operation):
            if value.WhichOneof("value") == "blobFileValue":
                dtype, shape = type_of(value.type)
                yield BlobUse(
                    name=_value_name(operation, label),
                    operation=operation.type,
                    file_name=value.blobFileValue.fileName,
                    offset=value.blobFileValue.offset,
                    dtype=dtype,
                    shape=tuple(size or 0 for size in shape),
                )


def summarise(name: str, function: mil.Function) -> FunctionSummary:
    """Signature and operation counts of a function."""
    block = active_block(function)
    types = {output.name: output.type for op in block.operations for output in op.outputs}
    types.update((value.name, value.type) for value in function.inputs)
    states = [value for value in function.inputs if value.type.WhichOneof("type") == "stateType"]
    inputs = [value for value in function.inputs if value.type.WhichOneof("type") != "stateType"]
    return FunctionSummary(
        name=name,
        inputs=tuple(_value(value.name, value.type) for value in inputs),
        outputs=tuple(_value(n, types.get(n, mil.ValueType())) for n in block.outputs),
        states=tuple(_value(value.name, value.type) for value in states),
        operations=dict(Counter(operation.type for operation in operations(function))),
    )


def type_of(value_type: mil.ValueType) -> tuple[str, tuple[int | None, ...]]:
    """Element type and shape of a tensor or state; of anything else its kind and ``()``."""
    kind = value_type.WhichOneof("type")
    if kind == "stateType":
        return type_of(value_type.stateType.wrappedType)
    if kind != "tensorType":
        return (kind or "unknown").removesuffix("Type"), ()
    tensor = value_type.tensorType
    return _dtype_name(tensor.dataType), tuple(_size(d) for d in tensor.dimensions)


def _dtype_name(number: int) -> str:
    try:
        return mil.DataType.Name(number).lower()
    except ValueError:  # a type of a newer format
        return f"data type {number}"


def _size(dimension: mil.Dimension) -> int | None:
    return dimension.constant.size if dimension.WhichOneof("dimension") == "constant" else None


def _value(name: str, value_type: mil.ValueType) -> ValueSummary:
    return ValueSummary(name, *type_of(value_type))


def values(operation: mil.Operation) -> Iterator[tuple[str, mil.Value]]:
    """Every constant written into an operation, with the attribute or input it is."""
    for label in sorted(operation.attributes):
        yield label, operation.attributes[label]
    for label in sorted(operation.inputs):
        for binding in operation.inputs[label].arguments:
            if binding.WhichOneof("binding") == "value":
                yield label, binding.value


def _value_name(operation: mil.Operation, label: str) -> str:
    name = operation.outputs[0].name if operation.outputs else operation.type
    return name if label == "val" else f"{name}.{label}"
