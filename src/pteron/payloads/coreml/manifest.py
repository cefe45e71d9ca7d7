"""``Manifest.json`` of an ``.mlpackage``: which of the package's items is the model.

It has ``itemInfoEntries`` (identifier -> item with a ``path`` beneath ``Data/``) and
``rootModelIdentifier``.
"""

from __future__ import annotations

from pteron.errors import FormatError
from pteron.payloads.paths import check_path
from pteron.payloads.strict_json import mapping, parse_object, string

FILE_NAME = "Manifest.json"


def root_model_path(manifest: memoryview) -> str:
    """Path of the model specification, relative to the package."""
    fields = parse_object(bytes(manifest), FILE_NAME)
    entries = mapping(fields.get("itemInfoEntries"), f"{FILE_NAME}: itemInfoEntries")
    root = string(fields.get("rootModelIdentifier"), f"{FILE_NAME}: rootModelIdentifier")
    if root not in entries:
        raise FormatError(f"no item {root!r:.80}, the root model", where=FILE_NAME)
    where = f"{FILE_NAME}: {root}"
    path = string(mapping(entries[root], where).get("path"), f"{where}: path")
    return "/".join(["Data", *check_path(path, f"{where}: path")])
