"""Says why there are several compiled models of one payload."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping

from pteron.cache.catalogue import Listed


def distinguishing(entries: Iterable[Listed]) -> dict[str, dict[str, str]]:
    """Per identifier the parts of its key in which entries of the same payload differ.

    Parts have dotted names (``device_features.cpu``); one that an entry lacks is ``""``.
    """
    groups: defaultdict[str, dict[str, dict[str, str]]] = defaultdict(dict)
    for entry in entries:
        parts = _flatten(entry.manifest.key if entry.manifest else {})
        groups[parts.get("payload_digest", entry.identifier)][entry.identifier] = parts
    return {
        identifier: {name: parts.get(name, "") for name in _varying(group.values())}
        for group in groups.values()
        for identifier, parts in group.items()
    }


def _varying(keys: Iterable[Mapping[str, str]]) -> list[str]:
    keys = list(keys)
    names = sorted({name for parts in keys for name in parts})
    return [name for name in names if len({parts.get(name, "") for parts in keys}) > 1]


def _flatten(key: Mapping[str, object]) -> dict[str, str]:
    flat: dict[str, str] = {}
    for name, value in key.items():
        if isinstance(value, Mapping):
            flat.update({f"{name}.{inner}": str(what) for inner, what in value.items()})
        else:
            flat[name] = str(value)
    return flat
