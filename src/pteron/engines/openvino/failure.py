"""What OpenVINO says when a call fails: many lines, with places in its sources, made one."""

from __future__ import annotations

import re

from pteron.engines.openvino.names import op_of
from pteron.errors import EngineError

_PLACE = re.compile(r"(?:Exception from |failed at )?\S+\.(?:cpp|hpp|h):\d+:?")
_NODE = re.compile(r"[^\s'\"(]+@")  # as `names` writes them


def call_failed(function: str, error: Exception) -> EngineError:
    """The error of a call: function, operation's output where told, and OpenVINO's reason."""
    text = str(error)
    node = _NODE.search(text)
    op = op_of(node.group()) if node else ""
    where = f"function '{function}'" + (f", operation '{op}'" if op else "")
    message = f"{where}: OpenVINO cannot compute it: {_reason(text) or type(error).__name__}"
    return EngineError(message, function=function, op=op)


def _reason(text: str) -> str:
    """The last line that says something, without names of files."""
    lines = [_PLACE.sub("", line).strip(" :.") for line in text.splitlines()]
    return next((line for line in reversed(lines) if line), "")
