"""What a program says of itself, keyed so that like is compared with like."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from pteron.files.as_json import blob_as_json
from pteron.files.diff.payload_files import payload_files
from pteron.files.program_file import PTEFile
from pteron.files.summary import summarise

Key = Callable[[int, Mapping[str, Any]], str]

_KEYS: dict[str, Key] = {
    "methods": lambda _, item: str(item["name"]),
    "inputs": lambda position, _: str(position),
    "outputs": lambda position, _: str(position),
    "delegates": lambda _, item: f"{item['method']}[{item['index']}]",
    "functions": lambda _, item: str(item["name"]),
    "states": lambda _, item: str(item["name"]),
    "segments": lambda _, item: str(item["use"]),
}
"""Field -> what tells the items of its list apart."""

_TOLD_ELSEWHERE = {"kind", "path", "name", "index", "method", "use"}
_COMPARED_ELSEWHERE = {"bytes", "constants", "mutable_data", "named_data"}


def program_facts(file: PTEFile) -> dict[str, Any]:
    """The summary with its lists keyed, and what the summary does not tell of delegates.

    Blobs are left to the comparison of tensors, and the size to that of files.
    """
    summary = {k: v for k, v in summarise(file).items() if k not in _COMPARED_ELSEWHERE}
    facts: dict[str, Any] = _keyed(summary)
    for delegate in file.delegates:
        facts["delegates"][f"{delegate.method}[{delegate.index}]"] |= {
            "compile_specs": {k: _shown(v) for k, v in delegate.compile_specs.items()},
            "files": payload_files(file, delegate),
        }
    return facts


def _keyed(summary: Mapping[str, Any]) -> dict[str, Any]:
    return {
        name: _keyed_value(name, value)
        for name, value in summary.items()
        if name not in _TOLD_ELSEWHERE
    }


def _keyed_value(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return _keyed(value) if name != "operations" else dict(value)
    if name in _KEYS and isinstance(value, list):
        return _by_key(value, _KEYS[name])
    return value


def _by_key(items: Sequence[Mapping[str, Any]], key: Key) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for position, item in enumerate(items):
        wanted = key(position, item)
        unique = wanted if wanted not in found else f"{wanted} ({position})"
        found[unique] = _keyed(item)
    return found


def _shown(value: memoryview) -> Any:
    described = blob_as_json(value)
    return described.get("text", described)
