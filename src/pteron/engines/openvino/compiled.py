"""A payload that OpenVINO has compiled: in memory, or as the files that a cache keeps.

The directory holds ``functions.json`` (signatures, in order) and one exported OpenVINO model per
function, which is mapped, not read, when it is loaded.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np

from pteron.engines.base import Compilation, EngineOptions, FunctionInfo
from pteron.engines.openvino._import import ov
from pteron.engines.openvino.function import CompiledFunction
from pteron.engines.openvino.precision import profiling
from pteron.engines.openvino.session import OpenVINOSession
from pteron.engines.openvino.signature import from_json, to_json
from pteron.errors import EngineError

_MANIFEST = "functions.json"
_FORMAT = 3


class OpenVINOCompiledModel:
    """Functions that share a payload and, in each session, its states."""

    def __init__(self, compiled: list[CompiledFunction]) -> None:
        self._compiled = {item.info.name: item for item in compiled}

    @property
    def functions(self) -> Mapping[str, FunctionInfo]:
        return {name: item.info for name, item in self._compiled.items()}

    @property
    def compilations(self) -> Mapping[str, Compilation]:
        return {name: item.compilation for name, item in self._compiled.items()}

    def new_session(self) -> OpenVINOSession:
        return OpenVINOSession(self._compiled)


def save(compiled: list[CompiledFunction], directory: Path) -> None:
    """Leave compiled functions in a directory; the manifest is written last."""
    entries = []
    for index, item in enumerate(compiled):
        with (directory / _blob_name(index)).open("wb") as file:
            file.write(item.model.export_model().getbuffer())
        entries.append(
            {
                "signature": to_json(item.info),
                "properties": dict(item.properties),
                "labels": dict(item.labels),
                "compilation": asdict(item.compilation),
            }
        )
    manifest = json.dumps({"format": _FORMAT, "functions": entries})
    (directory / _MANIFEST).write_text(manifest, encoding="utf-8")


def load(directory: Path, options: EngineOptions, core: Any) -> list[CompiledFunction]:
    """Make ready what :func:`save` left. Raises EngineError when it cannot be."""
    try:
        manifest = json.loads((directory / _MANIFEST).read_text(encoding="utf-8"))
        if manifest["format"] != _FORMAT:
            raise EngineError(f"{directory}: compiled by another version of pteron")
        return [
            _load_function(directory / _blob_name(index), entry, options, core)
            for index, entry in enumerate(manifest["functions"])
        ]
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise EngineError(f"{directory}: no loadable compiled model: {error}") from error


def _load_function(
    path: Path, entry: dict[str, Any], options: EngineOptions, core: Any
) -> CompiledFunction:
    mapped = np.memmap(path, dtype=np.uint8, mode="c")
    blob = ov.Tensor(mapped, mapped.shape, ov.Type.u8)
    model = core.import_model(blob, "CPU", entry["properties"] | profiling(options))
    info = from_json(entry["signature"])
    compilation = Compilation(**entry["compilation"])
    return CompiledFunction(info, model, entry["properties"], entry["labels"], blob, compilation)


def _blob_name(index: int) -> str:
    return f"function{index}.blob"
