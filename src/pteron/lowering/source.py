"""Where in the user's model an operation comes from."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.fx import Node

_FRAME = re.compile(
    r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>.+)\n\s*(?P<code>.*)'
)
_LIBRARIES = ("/torch/", "\\torch\\")


def source_line(node: Node) -> str:
    """``model.py:12 in forward: y = x + 1``, the innermost line outside torch, or ``""``."""
    return line_in(node.meta.get("stack_trace") or "")


def line_in(stack: str) -> str:
    """The same of a stack as text, in Python's own layout."""
    frames = list(_FRAME.finditer(stack))
    own = [frame for frame in frames if not any(part in frame["file"] for part in _LIBRARIES)]
    if not frames:
        return ""
    frame = (own or frames)[-1]
    place = f"{frame['file']}:{frame['line']} in {frame['function']}"
    return f"{place}: {frame['code'].strip()}" if frame["code"].strip() else place


def op_name(node: Node) -> str:
    """``aten.add.Tensor`` for an operator call, the plain name for anything else."""
    target = node.target
    return str(target) if not callable(target) else str(getattr(target, "__name__", target))


def describe(node: Node) -> str:
    """The operation and, where known, its line, for messages."""
    name = str(node.target) if "." in str(node.target) else op_name(node)
    line = source_line(node)
    return f"{name} ({line})" if line else name
