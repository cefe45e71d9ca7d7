"""What a program says of itself, keyed so that like is compared with like."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

from pteron.files.as_json import blob_as_json
from pteron.files.diff.payload_files import payload_files
from pteron.files.program_file import PTEFile
from pteron.files.summary import summarise

Item = Mapping[str, Any]


class Key(NamedTuple):
    """What tells the items of a list apart, and the fields that need no comparison after that."""

    of: Callable[[int, Item], str]
    fields: frozenset[str] = frozenset()


_BY_NAME = Key(lambda _, item: str(item["name"]), frozenset({"name"}))
_BY_POSITION = Key(lambda position, _: str(position))
_KEYS = {
    "methods": _BY_NAME,
    "inputs": _BY_POSITION,
    "outputs": _BY_POSITION,
    "delegates": Key(
        lambda _, item: f"{item['method']}[{item['index']}]", frozenset({"method", "index"})
    ),
    "functions": _BY_NAME,
    "states": _BY_NAME,
    "segments": Key(lambda _, item: str(item["use"]), frozenset({"use", "index"})),
}

_COMPARED_ELSEWHERE = {"kind", "path", "bytes", "constants", "mutable_data", "named_data"}


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


def _keyed(summary: Item) -> dict[str, Any]:
    return {name: _keyed_value(name, value) for name, value in summary.items()}


def _keyed_value(name: str, value: Any) -> Any:
    if isinstance(value, Mapping):
        return _keyed(value)
    if name in _KEYS and isinstance(value, list):
        return _by_key(value, _KEYS[name])
    return value


def _by_key(items: Sequence[Item], key: Key) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for position, item in enumerate(items):
        wanted = key.of(position, item)
        unique = wanted if wanted not in found else f"{wanted} ({position})"
        found[unique] = _keyed({k: v for k, v in item.items() if k not in key.fields})
    return found


def _shown(value: memoryview) -> Any:
    described = blob_as_json(value)
    return described.get("text", described)
