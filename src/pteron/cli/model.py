"""``PATH.py:FUNCTION``: how a PyTorch model is named on the command line."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pteron.errors import UsageError
from pteron.progress import stage
from pteron.suggestions import meant


@dataclass(frozen=True)
class Built:
    """What the function returned: a model (or methods), example inputs, options of the call."""

    model: Any
    inputs: Any
    options: dict[str, Any]


def built(reference: str) -> Built:
    """Run the file, call its function. Raises UsageError where that gives no model."""
    with stage("build the model"):
        function = _function(reference)
        try:
            answer = function()
        except Exception as error:
            raise UsageError(f"{reference} failed: {type(error).__name__}: {error}") from error
    if not isinstance(answer, tuple) or len(answer) not in (2, 3):
        raise UsageError(f"{reference} must return (model, inputs) or (model, inputs, options)")
    model, inputs, *rest = answer
    if rest and not isinstance(rest[0], dict):
        raise UsageError(f"{reference}: options must be a dict, not {type(rest[0]).__name__}")
    return Built(model, inputs, rest[0] if rest else {})


def _function(reference: str) -> Callable[[], Any]:
    path, colon, name = reference.rpartition(":")
    if not colon or not path.endswith(".py"):
        raise UsageError(f"{reference}: name a function as PATH.py:FUNCTION")
    if not Path(path).is_file():
        raise UsageError(f"{path}: no such file")
    # under a name of its own: a file may well be called like a module that others import
    spec = importlib.util.spec_from_file_location(f"pteron model {Path(path).stem}", path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    sys.path.insert(0, str(Path(path).resolve().parent))
    try:
        spec.loader.exec_module(module)
    except Exception as error:
        raise UsageError(f"{path} cannot be run: {type(error).__name__}: {error}") from error
    function = getattr(module, name, None)
    if not callable(function):
        functions = [key for key, value in vars(module).items() if callable(value)]
        raise UsageError(f"{path} has no function {name}{meant(name, functions)}")
    found: Callable[[], Any] = function
    return found
