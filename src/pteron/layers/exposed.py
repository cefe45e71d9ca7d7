"""A Core ML payload that gives out every value it computes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pteron.engines.description import features, function_description
from pteron.payloads.base import PayloadSource
from pteron.payloads.coreml.metadata import FILE_NAME, MethodNames
from pteron.payloads.coreml.package import BACKEND_ID, CoreMLPackage
from pteron.payloads.sources import FilesSource

_FEATURES = {"FLOAT16": "FLOAT16", "FLOAT32": "FLOAT32", "INT32": "INT32"}
"""MIL element types that a Core ML output can have -> their names among features."""
_NOT_COMPUTED = frozenset({"const", "read_state", "coreml_update_state"})


def exposed(source: PayloadSource) -> FilesSource:
    """The payload with further outputs, after those that it has."""
    package = CoreMLPackage(source)
    model = type(package.model).FromString(package.model.SerializeToString())
    names: dict[str, MethodNames] = {}
    for name, function in model.mlProgram.functions.items():
        known = features(package, name)
        (block,) = function.block_specializations.values()
        described = function_description(model.description, name).output
        added = [one for one in _computed(block) if one[0] not in known.outputs]
        for value, kind, shape in added:
            block.outputs.append(value)
            array: Any = described.add(name=value).type.multiArrayType
            array.shape.extend(shape)
            array.dataType = array.ArrayDataType.Value(kind)
        outputs = (*known.outputs, *(value for value, _, _ in added))
        names[name] = MethodNames(known.inputs, outputs)
    files = {path: source.read(path) for path in source.paths()}
    files[package.model_path] = memoryview(model.SerializeToString())
    metadata = replace(package.metadata, methods=names)
    files[FILE_NAME] = memoryview(metadata.to_bytes())
    return FilesSource(BACKEND_ID, files, source.function)


def _computed(block: Any) -> Iterator[tuple[str, str, list[int]]]:
    """Name, feature type and shape of each value that is an array of fixed shape."""
    for operation in block.operations:
        if operation.type in _NOT_COMPUTED:
            continue
        for output in operation.outputs:
            tensor = output.type.tensorType
            kind = _FEATURES.get(_type_name(tensor))
            shape = [int(axis.constant.size) for axis in tensor.dimensions]
            if kind and shape and all(shape):
                yield output.name, kind, shape


def _type_name(tensor: Any) -> str:
    field = tensor.DESCRIPTOR.fields_by_name["dataType"]
    found = field.enum_type.values_by_number.get(tensor.dataType)
    return found.name if found else ""
