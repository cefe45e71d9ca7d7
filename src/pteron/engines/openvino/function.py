"""One function of a payload, compiled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pteron.engines.base import Compilation, FunctionInfo


@dataclass(frozen=True)
class CompiledFunction:
    """A function's signature, OpenVINO's product and the properties it was made with.

    ``labels`` are the classes of a classifier's outputs, whose value OpenVINO gives as
    probabilities.
    ``memory`` is what the product was imported from: OpenVINO uses weights there without keeping
    it alive, so whoever may still call the product must hold on to this object.
    """

    info: FunctionInfo
    model: Any
    properties: Mapping[str, Any]
    labels: Mapping[str, list[Any]] = field(default_factory=dict)
    memory: Any = None
    compilation: Compilation = field(default_factory=Compilation)
