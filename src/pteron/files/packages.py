"""Core ML packages and compiled models by themselves: what is in them, and what makes them big."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pteron.errors import PteronError
from pteron.files.summary import describe_payload
from pteron.payloads import Part
from pteron.payloads.coreml.image_parts import directory_parts
from pteron.payloads.coreml.package import directory_source
from pteron.payloads.coreml.reader import READER
from pteron.payloads.sources import FilesSource
from pteron.progress import stage


@stage("read")
def summarise_package(path: Path) -> dict[str, Any]:
    """A JSON-able description of a ``.mlpackage`` or ``.mlmodelc``. Sizes are in bytes.

    A model that cannot be read has ``None`` as its payload, and the reason as its note.
    """
    source = directory_source(path)
    sizes = {name.partition("/")[2]: len(data) for name, data in source.files.items()}
    return {
        "kind": "Core ML model",
        "path": str(path),
        "bytes": sum(sizes.values()),
        **_model(source),
        "files": [{"path": name, "bytes": size} for name, size in sizes.items()],
    }


def _model(source: FilesSource) -> dict[str, Any]:
    nothing = {"count": 0, "bytes": 0}
    try:
        summary = READER.summary(source)
    except PteronError as error:
        return {"payload": None, "note": str(error), "constants": nothing}
    payload = describe_payload(summary) | {"default": summary.default}
    try:
        weights = [len(constant.data) for constant in READER.constants(source)]
    except PteronError as error:
        return {"payload": payload, "note": str(error), "constants": nothing}
    return {"payload": payload, "constants": {"count": len(weights), "bytes": sum(weights)}}


@stage("measure")
def package_size_tree(path: Path) -> Part:
    """Its files and the weights in them; offsets count as if they lay one after the other."""
    return directory_parts(directory_source(path))
