"""One function of a payload, compiled."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from pteron.engines.base import Compilation, FunctionInfo
from pteron.engines.openvino.checks import Check


@dataclass(frozen=True)
class StatePages:
    """A state that a function is given as an input, in pages, and updates in place.

    Attributes:
        state: its name.
        input: index of the input.
        pages: shape of the input: ``[pages, heads, rows of a page, size]``.
        rows: of the state, ``[1, heads, rows, size]``.
    """

    state: str
    input: int
    pages: tuple[int, ...]
    rows: int


@dataclass(frozen=True)
class CompiledFunction:
    """A function's signature, OpenVINO's product and the properties it was made with.

    ``labels`` are the classes of a classifier's outputs, whose value OpenVINO gives as
    probabilities.
    ``graph`` is what is saved where the product itself cannot be exported; ``model`` is then None.
    ``memory`` is what the product was imported from: OpenVINO uses weights there without keeping
    it alive, so whoever may still call the product must hold on to this object.
    ``checks`` are what its values must satisfy; its model's output behind those of ``info`` tells,
    in order, which they do.
    """

    info: FunctionInfo
    model: Any
    properties: Mapping[str, Any]
    labels: Mapping[str, list[Any]] = field(default_factory=dict)
    memory: Any = None
    compilation: Compilation = field(default_factory=Compilation)
    pages: tuple[StatePages, ...] = ()
    graph: Any = None
    checks: tuple[Check, ...] = ()
