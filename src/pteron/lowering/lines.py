"""Lines of the model in all of its methods; torch.export notes those in ``forward`` alone."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import CodeType
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from torch.nn import Module


@contextmanager
def noted(model: Module) -> Iterator[None]:
    """While open, exported operations note their lines in every method of the modules' classes."""
    from torch.fx import proxy

    anchors = proxy._STACK_TRACE_ANCHORS
    added = {(code.co_filename, code.co_name) for code in _methods(model)} - anchors
    anchors |= added
    try:
        yield
    finally:
        anchors -= added


def _methods(model: Module) -> Iterator[CodeType]:
    classes = {cls for module in model.modules() for cls in type(module).__mro__}
    for cls in classes:
        if cls.__module__.partition(".")[0] != "torch":
            codes = (getattr(value, "__code__", None) for value in vars(cls).values())
            yield from (code for code in codes if code is not None)
