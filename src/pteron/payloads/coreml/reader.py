"""Core ML payloads for the rest of the house: files, parts, summary, constants."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from pteron.errors import FormatError, UnsupportedError
from pteron.payloads.base import PayloadSource
from pteron.payloads.coreml.compiled import summarise_compiled
from pteron.payloads.coreml.image_parts import image_parts
from pteron.payloads.coreml.memfs import read_image
from pteron.payloads.coreml.metadata import FILE_NAME, Metadata
from pteron.payloads.coreml.package import BACKEND_ID, COMPILED, CoreMLPackage
from pteron.payloads.coreml.program import BlobUse, summarise
from pteron.payloads.coreml.reference import ModelReference, read_reference
from pteron.payloads.coreml.uses import named_functions, named_uses
from pteron.payloads.coreml.weights import WeightFile
from pteron.payloads.parts import Part
from pteron.payloads.reader import Constant, FunctionSummary, PayloadReader, PayloadSummary
from pteron.payloads.sources import FilesSource

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class CoreMLReader:
    """The :class:`~pteron.payloads.reader.PayloadReader` of ``CoreMLBackend``."""

    backend_id = BACKEND_ID

    def open(
        self, payload: memoryview, named_data: Mapping[str, memoryview], method: str
    ) -> FilesSource:
        reference = read_reference(payload)
        if reference is None:
            return FilesSource(BACKEND_ID, read_image(payload).files)
        model = _resolve(reference, named_data)
        return FilesSource(BACKEND_ID, read_image(model).files, reference.function)

    def parts(self, payload: memoryview, named_data: Mapping[str, memoryview]) -> Part:
        reference = read_reference(payload)
        if reference is None:
            return image_parts(payload)
        note = f"function {reference.function!r} of named data {reference.key!r}"
        return Part("payload", "reference", 0, len(payload), note=note)

    def named_parts(
        self, payload: memoryview, named_data: Mapping[str, memoryview]
    ) -> Mapping[str, Part]:
        reference = read_reference(payload)
        if reference is None or reference.key not in named_data:
            return {}
        return {reference.key: image_parts(named_data[reference.key])}

    def summary(self, source: PayloadSource) -> PayloadSummary:
        package = CoreMLPackage(source)
        try:
            found = named_functions(package)
        except UnsupportedError:
            if not package.is_compiled:
                raise
            where = f"{COMPILED}/{FILE_NAME}"
            return summarise_compiled(source.read(where), where)
        functions = [
            _in_call_order(summarise(name, function), package.metadata)
            for name, function in found.items()
        ]
        kind = "compiled Core ML model" if package.is_compiled else "Core ML program"
        return PayloadSummary(
            format=f"{kind}, specification {package.model.specificationVersion}",
            functions=tuple(functions),
            default="" if package.is_pipeline or not functions else functions[0].name,
        )

    def constants(self, source: PayloadSource) -> list[Constant]:
        package = CoreMLPackage(source)
        found = {}
        for name, use in named_uses(package):
            file = package.weights(use.file_name)
            record = file.record(use.offset)
            found[name] = Constant(
                name=name,
                dtype=use.dtype,
                shape=use.shape,
                data=file.data[record.offset : record.offset + record.size],
                read=partial(_read, file, use),
            )
        return list(found.values())


READER: PayloadReader = CoreMLReader()


def _in_call_order(function: FunctionSummary, known: Metadata) -> FunctionSummary:
    """Inputs as callers give them: the order in a program is another one."""
    names = known.methods.get(function.name, known.names).inputs
    places = {name: place for place, name in enumerate(names)}
    ordered = sorted(function.inputs, key=lambda value: places.get(value.name, len(places)))
    return replace(function, inputs=tuple(ordered))


def _resolve(reference: ModelReference, named_data: Mapping[str, memoryview]) -> memoryview:
    if reference.key not in named_data:
        raise FormatError(
            f"the payload refers to named data {reference.key!r:.120}, which is not there "
            "(is it in a .ptd file that was not given?)"
        )
    return named_data[reference.key]


def _read(file: WeightFile, use: BlobUse) -> NDArray[np.generic]:
    values = file.read(use.offset)
    if values.size != math.prod(use.shape):
        raise FormatError(f"{values.size} elements for shape {use.shape}", where=use.name)
    return values.reshape(use.shape)
