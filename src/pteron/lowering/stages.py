"""What torch and coremltools raise for a model becomes one LoweringError that says where."""

from __future__ import annotations

import os
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from pteron.errors import LoweringError, PteronError
from pteron.lowering.source import describe, line_in

if TYPE_CHECKING:
    from torch.fx import Node


@contextmanager
def stage(doing: str, at: Node | None = None) -> Iterator[None]:
    """Around one stage of a lowering, or around what it does for the operation ``at``.

    ``doing`` is what cannot be done if something in it fails, as in "torch.export cannot export
    the model". Raises :class:`LoweringError` with the reason, the operation and its line as far as
    they are known, caused by the original error. pteron's own errors pass; one that names no
    operation gets the name of ``at``.
    """
    try:
        yield
    except PteronError as error:
        if at is None or describe(at) in str(error):
            raise
        raise LoweringError(f"{doing}, {describe(at)}: {error}") from error
    except Exception as error:
        place = describe(at) if at is not None else _model_line(error)
        said = f"{doing}: {_reason(error)}"
        raise LoweringError(f"{said} [at {place}]" if place else said) from error


def _reason(error: Exception) -> str:
    """An error's message up to its hints on debugging torch, with its type if that tells more."""
    kept: list[str] = []
    for line in str(error).splitlines():
        if line.strip().startswith(_ASIDES):
            break
        kept.append(line)
    text = " ".join(" ".join(kept).split())
    name = type(error).__name__
    ways = [way for said, way in _WAYS_OUT.items() if said in text]
    return "; ".join([f"{name}: {text}" if text else name, *ways])


_ASIDES = (
    *("For more information", "Original traceback", "While executing"),
    *("Hint:", "Developer debug context:", "from user code:"),
)
"""How the part of torch's messages begins that is for torch's developers."""
_WAYS_OUT = {
    "Mutating a variable from outside the scope of this HOP": "a branch or a loop cannot assign to "
    "an attribute: write the buffer in place there, as in self.b.copy_(value)",
}
"""Part of a message -> what to do, where torch does not say it."""


def _model_line(error: Exception) -> str:
    """The model's line that was run, or that the operation at hand was made for, or ``""``."""
    libraries = ("<", *_library_roots())
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if not frame.filename.startswith(libraries)]
    if not own:
        return line_in(str(error))
    return f"{own[-1].filename}:{own[-1].lineno} in {own[-1].name}: {own[-1].line}"


def _library_roots() -> list[str]:
    """Directories of Python's own modules, of pteron, and of what it calls."""
    names = ("contextlib", "pteron", "torch", "coremltools", "sympy", "numpy")
    origins = [spec.origin for spec in map(find_spec, names) if spec and spec.origin]
    return [f"{Path(origin).parent}{os.sep}" for origin in origins]
