"""A payload that OpenVINO has compiled: in memory, or as the files that a cache keeps.

The directory holds ``functions.json`` (signatures, in order) and one exported OpenVINO model per
function, which is mapped, not read, when it is loaded. Of a function with paged attention, which
OpenVINO cannot import, it holds the graph and its weights, ready to be compiled again.
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
from pteron.engines.openvino.checks import Check
from pteron.engines.openvino.export import export
from pteron.engines.openvino.function import CompiledFunction, StatePages
from pteron.engines.openvino.passes.compressed import keep_compressed
from pteron.engines.openvino.passes.paged_attention import PAGED_ATTENTION, tell_heads
from pteron.engines.openvino.precision import profiling
from pteron.engines.openvino.session import OpenVINOSession
from pteron.engines.openvino.signature import from_json, to_json
from pteron.engines.openvino.threads import check_threads
from pteron.errors import EngineError

_MANIFEST = "functions.json"
_FORMAT = 4


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
        _save_function(item, directory, index)
        entries.append(
            {
                "signature": to_json(item.info),
                "properties": dict(item.properties),
                "labels": dict(item.labels),
                "compilation": asdict(item.compilation),
                "pages": [asdict(page) for page in item.pages],
                "checks": [asdict(check) for check in item.checks],
            }
        )
    manifest = json.dumps({"format": _FORMAT, "functions": entries})
    (directory / _MANIFEST).write_text(manifest, encoding="utf-8")


def _save_function(item: CompiledFunction, directory: Path, index: int) -> None:
    if item.graph is not None:
        ov.save_model(item.graph, directory / _graph_name(index), compress_to_fp16=False)
        return
    export(item.model, directory / _blob_name(index))


def load(directory: Path, options: EngineOptions, core: Any) -> list[CompiledFunction]:
    """Make ready what :func:`save` left. Raises EngineError when it cannot be."""
    try:
        manifest = json.loads((directory / _MANIFEST).read_text(encoding="utf-8"))
        if manifest["format"] != _FORMAT:
            raise EngineError(f"{directory}: compiled by another version of pteron")
        return [
            _load_function(directory, index, entry, options, core)
            for index, entry in enumerate(manifest["functions"])
        ]
    except EngineError:
        raise
    except (OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise EngineError(f"{directory}: no loadable compiled model: {error}") from error


def _load_function(
    directory: Path, index: int, entry: dict[str, Any], options: EngineOptions, core: Any
) -> CompiledFunction:
    check_threads(entry["properties"], options)
    properties = entry["properties"] | profiling(options)
    if entry["pages"]:
        blob, model = None, _compile_graph(directory / _graph_name(index), properties, core)
    else:
        mapped = np.memmap(directory / _blob_name(index), dtype=np.uint8, mode="c")
        blob = ov.Tensor(mapped, mapped.shape, ov.Type.u8)
        model = core.import_model(blob, "CPU", properties)
    info = from_json(entry["signature"])
    compilation = Compilation(**entry["compilation"])
    pages = tuple(StatePages(**page | {"pages": tuple(page["pages"])}) for page in entry["pages"])
    checks = tuple(Check(**check) for check in entry["checks"])
    return CompiledFunction(
        info, model, entry["properties"], entry["labels"], blob, compilation, pages, checks=checks
    )


def _compile_graph(path: Path, properties: dict[str, Any], core: Any) -> Any:
    """Compile a saved graph, with the notes at its nodes that no file keeps."""
    core.get_versions("CPU")  # loads the plugin, which knows the operation that files name
    graph = core.read_model(path)
    for node in graph.get_ordered_ops():
        if node.get_type_name() == PAGED_ATTENTION:
            tell_heads(node)
    keep_compressed(graph)
    return core.compile_model(graph, "CPU", properties)


def _blob_name(index: int) -> str:
    return f"function{index}.blob"


def _graph_name(index: int) -> str:
    return f"function{index}.xml"
