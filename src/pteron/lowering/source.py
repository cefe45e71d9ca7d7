"""Where in the user's model an operation comes from."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.fx import Node

_FRAME = re.compile(
    r'File "(?P<file>[^"]+)", line (?P<line>\d+), in (?P<function>.+)\n\s*(?P<code>.*)'
)
_LIBRARIES = (f"{os.sep}torch{os.sep}", f"{Path(__file__).parent}{os.sep}")
_GENERATED = "<eval_with_key>"


@dataclass(frozen=True)
class SourceFrame:
    """One line of a stack."""

    file: str
    line: int
    function: str
    code: str

    def __str__(self) -> str:
        place = f"{self.file}:{self.line} in {self.function}"
        return f"{place}: {self.code}" if self.code else place


def source_line(node: Node) -> str:
    """``model.py:12 in forward: y = x + 1``, the innermost line outside torch.

    Of what torch.compile traced, such as a branch of ``torch.cond``, the module at least, as in
    ``layers.0 (Decoder)``; ``""`` where nothing is known.
    """
    return line_in(node.meta.get("stack_trace") or "") or _module(node)


def _module(node: Node) -> str:
    stack = list((node.meta.get("nn_module_stack") or {}).values())
    if not stack:
        return ""
    path, kind = stack[-1]
    name = kind if isinstance(kind, str) else kind.__name__
    return f"{path or 'the model'} ({name.rpartition('.')[2]})"


def line_in(stack: str) -> str:
    """The same of a stack as text, in Python's own layout."""
    frames = frames_in(stack)
    own = [frame for frame in frames if not any(part in frame.file for part in _LIBRARIES)]
    return str((own or frames)[-1]) if frames else ""


def frames_in(stack: str) -> list[SourceFrame]:
    """Every line of such a stack, outermost first, but those of code that torch made up."""
    return [
        SourceFrame(f["file"], int(f["line"]), f["function"], f["code"].strip())
        for f in _FRAME.finditer(stack)
        if not f["file"].startswith(_GENERATED)
    ]


def op_name(node: Node) -> str:
    """``aten.add.Tensor`` for an operator call, the plain name for anything else."""
    target = node.target
    return str(target) if not callable(target) else str(getattr(target, "__name__", target))


def describe(node: Node) -> str:
    """The operation and, where known, its line, for messages."""
    name = str(node.target) if "." in str(node.target) else op_name(node)
    line = source_line(node)
    return f"{name} ({line})" if line else name
