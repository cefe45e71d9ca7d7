"""Which MIL ops the engine knows, since which opset, and how it is written down.

An op is one small function whose parameters are the op's inputs (their annotations come from
:mod:`pteron.engines.openvino.declare`) and whose defaults are the opset's defaults. Where a later
opset changed an op's meaning, a second function is registered with a later ``since``.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any, TypeVar

from pteron.engines.openvino.declare import Declared
from pteron.engines.openvino.problem import OpProblem

# Core ML's name of an opset -> the iOS release that brought it
OPSETS: Mapping[str, int] = {
    "CoreML5": 15,
    "CoreML6": 16,
    "CoreML7": 17,
    "CoreML8": 18,
    "CoreML9": 26,
}
_F = TypeVar("_F", bound=Callable[..., Any])


@dataclass(frozen=True)
class Parameter:
    """One input of an op."""

    name: str
    declared: Declared
    default: Any
    required: bool


@dataclass(frozen=True)
class OpSpec:
    """An op at one opset: what it takes and the function that builds it."""

    name: str
    family: str
    since: int
    build: Callable[..., Any]
    parameters: tuple[Parameter, ...]
    tested_against: str

    def parameter(self, name: str) -> Parameter | None:
        """The parameter of that name."""
        return next((p for p in self.parameters if p.name == name), None)


_OPS: dict[str, list[OpSpec]] = {}


def mil_op(*names: str, since: int = 15, tested: str = "PyTorch") -> Callable[[_F], _F]:
    """Register a function as the builder of MIL ops of these names from opset ``since`` on."""

    def register(build: _F) -> _F:
        family = build.__module__.rsplit(".", 1)[-1]
        parameters = _parameters(build)
        for name in names or (build.__name__,):
            specs = _OPS.setdefault(name, [])
            specs.append(OpSpec(name, family, since, build, parameters, tested))
            specs.sort(key=lambda spec: spec.since)
        return build

    return register


def _parameters(build: Callable[..., Any]) -> tuple[Parameter, ...]:
    hints = typing.get_type_hints(build, include_extras=True)
    return tuple(
        Parameter(name, _declared(hints[name]), parameter.default, _is_required(parameter))
        for name, parameter in inspect.signature(build).parameters.items()
    )


def _is_required(parameter: inspect.Parameter) -> bool:
    return parameter.default is inspect.Parameter.empty


def _declared(hint: Any) -> Declared:
    """The declaration in ``Annotated[..., declared]`` or ``Annotated[..., declared] | None``."""
    for part in (hint, *typing.get_args(hint)):
        for item in getattr(part, "__metadata__", ()):
            if isinstance(item, Declared):
                return item
    raise TypeError(f"{hint} declares no kind of input")


@cache
def _load_families() -> None:
    from pteron.engines.openvino import ops

    for module in pkgutil.iter_modules(ops.__path__):
        importlib.import_module(f"{ops.__name__}.{module.name}")


def find(name: str, opset: str) -> OpSpec:
    """The op as the opset defines it; an op or opset that is not known is an OpProblem."""
    _load_families()
    if opset not in OPSETS:
        raise OpProblem(f"unknown opset '{opset}' (known: {', '.join(OPSETS)})")
    if name not in _OPS:
        raise OpProblem("unknown op")
    fitting = [spec for spec in _OPS[name] if spec.since <= OPSETS[opset]]
    if not fitting:
        raise OpProblem(f"the op came with iOS {_OPS[name][0].since}; opset {opset} has none")
    return fitting[-1]


def all_ops() -> Mapping[str, list[OpSpec]]:
    """Every op the engine knows, by name; per op one entry for each opset that changed it."""
    _load_families()
    return dict(sorted(_OPS.items()))
