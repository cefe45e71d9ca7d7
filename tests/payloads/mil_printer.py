"""Writes an ML program as text, the way Core ML's compiler writes ``model.mil``.

A tool for tests: nothing here can compile a model, so programs that coremltools made are printed
and read back. What it prints of the corpus' compiled models is their text, byte for byte.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

import ml_dtypes
import numpy as np

from pteron.payloads.coreml.proto import mil_pb2 as mil
from pteron.payloads.packed import unpack

NAMES = {mil.FLOAT16: "fp16", mil.FLOAT32: "fp32", mil.FLOAT64: "fp64", mil.BFLOAT16: "bf16"}
NAMES |= {mil.FLOAT8E4M3FN: "fp8e4m3fn", mil.FLOAT8E5M2: "fp8e5m2"}
FLOATS = {mil.FLOAT16: np.float16, mil.BFLOAT16: ml_dtypes.bfloat16}
FLOATS |= {mil.FLOAT8E4M3FN: ml_dtypes.float8_e4m3fn, mil.FLOAT8E5M2: ml_dtypes.float8_e5m2}
OPSETS = {f"CoreML{n}": f"ios{10 + n}" for n in (5, 6, 7, 8)} | {"CoreML9": "ios26"}


class Printer:
    """``short``: scalars without ``tensor<..., []>`` around them, as newer compilers write them."""

    def __init__(self, short: bool = False) -> None:
        self.short = short

    def program(self, program: mil.Program) -> str:
        functions = [self.function(name, f) for name, f in sorted(program.functions.items())]
        version = f"program({program.version}.0)\n"
        attributes = self.attributes(program.attributes)
        return f"{version}{attributes}\n{{\n{''.join(functions)}}}"

    def function(self, name: str, function: mil.Function) -> str:
        inputs = self.named_types(function.inputs)
        block = self.block(function.block_specializations[function.opset], 1)
        opset = OPSETS.get(function.opset, function.opset)
        attributes = self.attributes(function.attributes)
        return f"    func {name}<{opset}>({inputs}) {attributes}{block};\n"

    def block(self, block: mil.Block, depth: int) -> str:
        space = "    " * (depth + 2)
        lines = [f"{space}{self.operation(op, depth)};\n" for op in block.operations]
        return f"{{\n{''.join(lines)}{space[4:]}}} -> ({', '.join(block.outputs)})"

    def operation(self, op: mil.Operation, depth: int) -> str:
        outputs = f"{self.named_types(op.outputs)} = " if op.outputs else ""
        inputs = ", ".join(f"{n} = {self.argument(a)}" for n, a in sorted(op.inputs.items()))
        blocks = [
            (f" ({self.named_types(b.inputs)}) " if b.inputs else " ") + self.block(b, depth + 2)
            for b in op.blocks
        ]
        attributes = self.attributes(op.attributes)
        return f"{outputs}{op.type}({inputs}){attributes}{''.join(blocks)}"

    def argument(self, argument: mil.Argument) -> str:
        items = [
            b.name if b.WhichOneof("binding") == "name" else self.value(b.value)
            for b in argument.arguments
        ]
        return items[0] if len(items) == 1 else f"({', '.join(items)})"

    def attributes(self, attributes: Mapping[str, mil.Value]) -> str:
        items = ", ".join(f"{name} = {self.value(v)}" for name, v in sorted(attributes.items()))
        return f"[{items}]" if items else ""

    def named_types(self, values: Iterable[mil.NamedValueType]) -> str:
        return ", ".join(f"{self.type(value.type)} {value.name}" for value in values)

    def type(self, type: mil.ValueType) -> str:
        kind = type.WhichOneof("type")
        if kind == "tensorType":
            return self.tensor_type(type.tensorType)
        if kind == "listType":
            return f"list<{self.type(type.listType.type)}, {dimension(type.listType.length)}>"
        if kind == "stateType":
            return f"state<{self.type(type.stateType.wrappedType)}>"
        if kind == "tupleType":
            return f"tuple<{', '.join(map(self.type, type.tupleType.types))}>"
        pair = type.dictionaryType
        return f"dict<{self.type(pair.keyType)}, {self.type(pair.valueType)}>"

    def tensor_type(self, type: mil.TensorType) -> str:
        name = NAMES.get(type.dataType) or mil.DataType.Name(type.dataType).lower()
        if self.short and not type.dimensions:
            return name
        return f"tensor<{name}, [{', '.join(map(dimension, type.dimensions))}]>"

    def value(self, value: mil.Value) -> str:
        if value.WhichOneof("value") == "blobFileValue":
            path, offset = ("string", "uint64") if self.short else SCALARS
            blob = value.blobFileValue
            inside = f'BLOBFILE(path = {path}("{blob.fileName}"), offset = {offset}({blob.offset}))'
        else:
            inside = self.immediate(value)
        return f"{self.type(value.type)}({inside})"

    def immediate(self, value: mil.Value) -> str:
        held = value.immediateValue
        kind = held.WhichOneof("value")
        if kind == "tensor":
            return elements(held.tensor, value.type.tensorType)
        if kind == "dictionary":
            pairs = [
                f"{{{self.immediate(p.key)}, {self.immediate(p.value)}}}"
                for p in held.dictionary.values
            ]
            return f"{{{', '.join(pairs)}}}"
        items = [self.immediate(item) for item in getattr(held, kind).values]
        return f"[{', '.join(items)}]" if kind == "list" else f"({', '.join(items)})"


SCALARS = ("tensor<string, []>", "tensor<uint64, []>")


def dimension(size: mil.Dimension) -> str:
    return str(size.constant.size) if size.WhichOneof("dimension") == "constant" else "?"


def elements(tensor: mil.TensorValue, type: mil.TensorType) -> str:
    words = [word(item) for item in _items(tensor, type)]
    if any(d.WhichOneof("dimension") == "unknown" for d in type.dimensions):
        return _nested(words, [len(words)])
    return _nested(words, [d.constant.size for d in type.dimensions])


def _nested(words: list[str], shape: list[int]) -> str:
    if not shape:
        return words[0]
    step = len(words) // shape[0] if shape[0] else 1
    parts = [_nested(words[i * step : (i + 1) * step], shape[1:]) for i in range(shape[0])]
    return f"[{', '.join(parts)}]"


def _items(tensor: mil.TensorValue, type: mil.TensorType) -> list[object]:
    kind = tensor.WhichOneof("value")
    values = getattr(tensor, kind).values if kind else []
    if kind != "bytes":
        return list(values)
    name = mil.DataType.Name(type.dataType).lower()
    if name in ("int4", "uint1", "uint2", "uint3", "uint4", "uint6"):
        count = int(np.prod([d.constant.size for d in type.dimensions]))
        return unpack(memoryview(values), int(name[-1]), count, signed=name == "int4").tolist()
    return np.frombuffer(values, FLOATS.get(type.dataType, name)).tolist()


def word(item: object) -> str:
    if isinstance(item, bool):
        return "true" if item else "false"
    if isinstance(item, str):
        return '"' + item.replace("\\", "\\\\").replace('"', '\\"') + '"'
    return hexadecimal(item) if isinstance(item, float) else str(item)


def hexadecimal(number: float) -> str:
    """A float as the compiler writes it: no zeros at the mantissa's end."""
    text = number.hex()
    if "x" not in text:
        return text
    mantissa, exponent = text.split("p")
    return f"{mantissa.rstrip('0').rstrip('.')}p{exponent}" if "." in mantissa else text
