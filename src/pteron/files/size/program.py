"""The parts of a program file."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace

from pteron.errors import PteronError
from pteron.files.header import read_pte_header
from pteron.files.methods import Delegate
from pteron.files.parts import named_views
from pteron.files.program_file import PTEFile
from pteron.files.segment_uses import segment_uses
from pteron.files.size.layout import Blob, framed, placed
from pteron.files.stored import StoredTensor, stored_constants, stored_initial_values
from pteron.payloads import Part, find_reader


def program_parts(file: PTEFile, view: memoryview) -> Part:
    """A program that was opened from ``view``."""
    blobs = [
        *_tensors(stored_constants(file), "constant"),
        *_tensors(stored_initial_values(file), "initial value"),
        *_delegates_and_named_data(file),
    ]
    return framed(
        "program",
        view,
        read_pte_header(view),
        file.program.segments,
        segment_uses(file.program),
        placed(blobs, view),
    )


def _tensors(stored: Iterable[StoredTensor], kind: str) -> Iterator[Blob]:
    for tensor in stored:
        size = len(tensor.data)
        yield tensor.data, Part(tensor.name, kind, 0, size, tensor.dtype, tensor.shape)


def _delegates_and_named_data(file: PTEFile) -> Iterator[Blob]:
    """What a delegate says of a named blob is more than the blob says of itself: it goes first."""
    named = named_views(file.named_data)
    told: dict[str, Part] = {}
    for delegate in file.delegates:
        own, of_named = _read(delegate, named)
        name = f"{delegate.method}: delegate {delegate.index} ({delegate.backend_id})"
        yield delegate.payload, replace(own, name=name)
        for key, part in of_named.items():
            note = part.note or (part.name if part.kind == "weight" else "")
            told.setdefault(key, replace(part, note=note))
    for key, data in named.items():
        part = told.get(key, Part(key, "named data", 0, len(data)))
        yield data, part


def _read(delegate: Delegate, named: Mapping[str, memoryview]) -> tuple[Part, Mapping[str, Part]]:
    """What a payload is made of, and the named blobs it uses."""
    whole = Part("payload", "payload", 0, len(delegate.payload))
    reader = find_reader(delegate.backend_id)
    if reader is None:
        return whole, {}
    try:
        return reader.parts(delegate.payload, named), reader.named_parts(delegate.payload, named)
    except PteronError as error:
        return replace(whole, note=f"cannot be read: {error}"), {}
