"""Payloads of delegates as the files that their backends made of them."""

from __future__ import annotations

import json
from contextlib import suppress
from pathlib import Path
from typing import Any

from pteron.errors import PteronError
from pteron.files.as_json import blob_as_json
from pteron.files.extract.names import FileNames
from pteron.files.methods import Delegate
from pteron.files.program_file import PTEFile
from pteron.payloads import PayloadSource, find_reader, open_payload
from pteron.payloads.paths import check_path
from pteron.payloads.registry import BytesMapping

INDEX = "index.json"


def write_payloads(file: PTEFile, folder: Path) -> None:
    """Every payload in a directory of its own, and ``index.json`` that says whose it is.

    A payload that several delegates share is written once. One that no reader understands is
    written as it is, with the reason in the index. Raises FormatError for a path that would leave
    the payload's directory.
    """
    named, names = file.named_data, FileNames()
    written: dict[str, str] = {}
    index = []
    folder.mkdir()
    for delegate in file.delegates:
        name = f"{delegate.method}-{delegate.index}"
        try:
            source = open_payload(delegate.backend_id, delegate.payload, named, delegate.method)
        except PteronError as error:
            path = f"{names.unique(name)}.bin"
            (folder / path).write_bytes(delegate.payload)
            index.append({**_entry(delegate, path), "note": str(error)})
            continue
        digest = source.digest()
        if digest not in written:
            written[digest] = names.unique(name)
            write_source(source, folder / written[digest])
        index.append({**_entry(delegate, written[digest]), "function": source.function})
    (folder / INDEX).write_text(json.dumps(index, indent=2, ensure_ascii=False), "utf-8")


def whole_payloads(file: PTEFile) -> set[str]:
    """Keys of the named blobs that are payloads by themselves, to which delegates just refer."""
    named, found = BytesMapping(file.named_data), set[str]()
    for delegate in file.delegates:
        reader = find_reader(delegate.backend_id)
        if reader is None:
            continue
        with suppress(PteronError):  # what cannot be read is no payload that could be written
            parts = reader.named_parts(delegate.payload, named)
            found |= {key for key, part in parts.items() if part.kind == "payload"}
    return found


def write_source(source: PayloadSource, folder: Path) -> None:
    """The files of a payload under a new directory ``folder``."""
    folder.mkdir()
    for path in source.paths():
        target = folder.joinpath(*check_path(path, "payload"))
        target.parent.mkdir(parents=True, exist_ok=True)
        with target.open("xb") as file:
            file.write(source.read(path))


def _entry(delegate: Delegate, path: str) -> dict[str, Any]:
    specs = {key: blob_as_json(value) for key, value in delegate.compile_specs.items()}
    return {
        "method": delegate.method,
        "index": delegate.index,
        "backend": delegate.backend_id,
        "bytes": len(delegate.payload),
        "path": path,
        "compile_specs": specs,
    }
