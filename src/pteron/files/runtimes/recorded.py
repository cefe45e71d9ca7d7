"""Registries of ExecuTorch's wheels, recorded by ``python -m tests.files.record_runtime``."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import NamedTuple


class Registries(NamedTuple):
    """What a wheel's runtime registers when it is imported.

    Attributes:
        backends: ids of the backends.
        operators: ``namespace::name.overload`` of every kernel.
        quantized_operators: kernels that ``import executorch.kernels.quantized`` adds.
    """

    backends: frozenset[str]
    operators: frozenset[str]
    quantized_operators: frozenset[str]


@cache
def recorded(version: str) -> Registries:
    """The registries of a wheel, by its version."""
    text = files(__package__).joinpath(f"executorch-{version}.json").read_text("utf-8")
    found = json.loads(text)
    return Registries(*(frozenset(found[name]) for name in Registries._fields))
