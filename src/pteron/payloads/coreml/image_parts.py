"""What a Core ML payload's bytes are made of, down to single weights."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import accumulate

from pteron.errors import UnsupportedError
from pteron.payloads.coreml.memfs import FileImage, read_image
from pteron.payloads.coreml.package import BACKEND_ID, CoreMLPackage
from pteron.payloads.coreml.program import BlobUse
from pteron.payloads.coreml.uses import named_uses
from pteron.payloads.coreml.weights import HEADER_SIZE, WeightFile
from pteron.payloads.parts import Part, fill
from pteron.payloads.sources import FilesSource


def image_parts(payload: memoryview) -> Part:
    """Files, index and padding. Raises FormatError where the payload is damaged."""
    image = read_image(payload)
    uses = _uses_by_path(CoreMLPackage(FilesSource(BACKEND_ID, image.files)))
    files = [_file_part(image, path, uses.get(path, {})) for path in image.files]
    index = Part("index of files", "header", image.index_offset, len(payload) - image.index_offset)
    return Part(
        "payload", "payload", 0, len(payload), children=fill([*files, index], 0, len(payload))
    )


def directory_parts(source: FilesSource) -> Part:
    """The files of a package, as if they lay one after the other; paths within the package.

    Raises FormatError where it is damaged.
    """
    ends = list(accumulate((len(data) for data in source.files.values()), initial=0))
    image = FileImage("", dict(zip(source.files, ends, strict=False)), source.files, ends[-1])
    uses = _uses_by_path(CoreMLPackage(source))
    files = [_file_part(image, path, uses.get(path, {})) for path in image.files]
    named = [replace(part, name=part.name.partition("/")[2]) for part in files]
    return Part("model", "file", 0, ends[-1], children=fill(named, 0, ends[-1]))


def _uses_by_path(package: CoreMLPackage) -> dict[str, dict[int, BlobUse]]:
    """Weight file's path -> record offset -> first use; empty for a program we cannot read."""
    uses: dict[str, dict[int, BlobUse]] = {}
    try:
        for _, use in named_uses(package):
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
