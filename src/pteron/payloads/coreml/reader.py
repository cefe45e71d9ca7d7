"""Core ML payloads for the rest of the house: files, parts, summary, constants."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

from pteron.errors import FormatError, UnsupportedError
from pteron.payloads.base import PayloadSource
from pteron.payloads.coreml.compiled import summarise_compiled
from pteron.payloads.coreml.memfs import FileImage, read_image
from pteron.payloads.coreml.metadata import FILE_NAME
from pteron.payloads.coreml.package import BACKEND_ID, COMPILED, CoreMLPackage
from pteron.payloads.coreml.program import BlobUse, blob_uses, summarise
from pteron.payloads.coreml.reference import ModelReference, read_reference
from pteron.payloads.coreml.weights import HEADER_SIZE, WeightFile
from pteron.payloads.parts import Part, fill
from pteron.payloads.reader import Constant, PayloadReader, PayloadSummary
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
            return _image_parts(payload)
        note = f"function {reference.function!r} of named data {reference.key!r}"
        return Part("payload", "reference", 0, len(payload), note=note)

    def named_parts(
        self, payload: memoryview, named_data: Mapping[str, memoryview]
    ) -> Mapping[str, Part]:
        reference = read_reference(payload)
        if reference is None or reference.key not in named_data:
            return {}
        return {reference.key: _image_parts(named_data[reference.key])}

    def summary(self, source: PayloadSource) -> PayloadSummary:
        package = CoreMLPackage(source)
        if package.is_compiled:
            where = f"{COMPILED}/{FILE_NAME}"
            return summarise_compiled(source.read(where), where)
        functions = [summarise(name, package.program.functions[name]) for name in _order(package)]
        return PayloadSummary(
            format=f"Core ML program, specification {package.model.specificationVersion}",
            functions=tuple(functions),
        )

    def constants(self, source: PayloadSource) -> list[Constant]:
        package = CoreMLPackage(source)
        found = {}
        for name, use in _named_uses(package):
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


def _resolve(reference: ModelReference, named_data: Mapping[str, memoryview]) -> memoryview:
    if reference.key not in named_data:
        raise FormatError(
            f"the payload refers to named data {reference.key!r:.120}, which is not there "
            "(is it in a .ptd file that was not given?)"
        )
    return named_data[reference.key]


def _order(package: CoreMLPackage) -> list[str]:
    """Function names, the default one first (the format's map has no order of its own)."""
    default = package.model.description.defaultFunctionName or "main"
    return sorted(package.program.functions, key=lambda name: (name != default, name))


def _named_uses(package: CoreMLPackage) -> Iterator[tuple[str, BlobUse]]:
    names = _order(package)
    for function in names:
        prefix = f"{function}/" if len(names) > 1 else ""
        for use in blob_uses(package.program.functions[function]):
            yield prefix + use.name, use


def _read(file: WeightFile, use: BlobUse) -> NDArray[np.generic]:
    values = file.read(use.offset)
    if values.size != math.prod(use.shape):
        raise FormatError(f"{values.size} elements for shape {use.shape}", where=use.name)
    return values.reshape(use.shape)


def _image_parts(payload: memoryview) -> Part:
    image = read_image(payload)
    uses = _uses_by_path(CoreMLPackage(FilesSource(BACKEND_ID, image.files)))
    files = [_file_part(image, path, uses.get(path, {})) for path in image.files]
    index = Part("index of files", "header", image.index_offset, len(payload) - image.index_offset)
    return Part(
        "payload", "payload", 0, len(payload), children=fill([*files, index], 0, len(payload))
    )


def _uses_by_path(package: CoreMLPackage) -> dict[str, dict[int, BlobUse]]:
    """Weight file's path -> record offset -> first use; empty for a program we cannot read."""
    uses: dict[str, dict[int, BlobUse]] = {}
    try:
        for _, use in _named_uses(package):
            path = package.weight_path(use.file_name)
            uses.setdefault(path, {}).setdefault(use.offset, use)
    except UnsupportedError:
        return {}
    return uses


def _file_part(image: FileImage, path: str, uses: Mapping[int, BlobUse]) -> Part:
    data, offset = image.files[path], image.offsets[path]
    children: tuple[Part, ...] = ()
    if "/weights/" in path and len(data) >= HEADER_SIZE:
        children = fill(
            [part.moved(offset) for part in _weight_parts(data, path, uses)],
            offset,
            offset + len(data),
            name="blob records, padding",
        )
    return Part(path, "file", offset, len(data), children=children)


def _weight_parts(data: memoryview, path: str, uses: Mapping[int, BlobUse]) -> Iterator[Part]:
    file = WeightFile(data, path)
    yield Part("storage header", "header", 0, HEADER_SIZE)
    records = {record.record_offset: record for record in file.records()}
    records.update((offset, file.record(offset)) for offset in uses)
    for offset, record in records.items():
        use = uses.get(offset)
        yield Part(
            name=use.name if use else f"blob at {offset}",
            kind="weight",
            offset=record.offset,
            size=record.size,
            dtype=record.type.name,
            shape=use.shape if use else (record.count,),
            note=use.operation if use else "no operation reads it",
        )
