"""Where in the model an instruction comes from, as the program's own tables tell it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pteron.lowering.source import frames_in
from pteron.schema.program import Frame, FrameList

if TYPE_CHECKING:
    from torch.fx import Node


def debug_frames(node: Node | None) -> FrameList:
    """The stack of an operation (program.fbs: Chain.stacktrace), as ExecuTorch's emitter has it.

    That of a delegate's call, which stands for many operations, is empty.
    """
    stack = node.meta.get("stack_trace") if node is not None else None
    return FrameList(
        items=[
            Frame(filename=f.file, lineno=f.line, name=f.function, context=f.code)
            for f in frames_in(stack or "")
        ]
    )
