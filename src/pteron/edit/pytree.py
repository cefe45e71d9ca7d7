"""Nested results flattened, and the text by which a file describes their nesting.

The text is PyTorch's tree specification in its JSON form, version 1, which ExecuTorch puts in
``ContainerMetadata.encoded_out_str``. Its words: ``type``, ``context``, ``children_spec``.
"""

from __future__ import annotations

import json
from typing import Any

from pteron.errors import UsageError

_VERSION = 1
_MAX_DEPTH = 64


def flatten(value: object) -> tuple[list[object], str]:
    """Leaves in order, and the specification of their nesting in lists, tuples and dicts.

    Raises UsageError for nesting deeper than 64, or dict keys that are no text or integers.
    """
    leaves: list[object] = []
    spec = _spec(value, leaves, 0)
    return leaves, json.dumps([_VERSION, spec])


def _spec(value: object, leaves: list[object], depth: int) -> dict[str, Any]:
    if depth > _MAX_DEPTH:
        raise UsageError(f"the value is nested more than {_MAX_DEPTH} deep")
    kind = type(value)
    if isinstance(value, dict) and kind is dict:
        if not all(type(key) in (str, int) for key in value):
            raise UsageError("the keys of a dict must be text or integers")
        context, children = json.dumps(list(value)), list(value.values())
    elif isinstance(value, (list, tuple)) and kind in (list, tuple):
        context, children = "null", list(value)
    else:
        leaves.append(value)
        return {"type": None, "context": None, "children_spec": []}
    inner = [_spec(child, leaves, depth + 1) for child in children]
    return {"type": f"builtins.{kind.__name__}", "context": context, "children_spec": inner}
