"""What a snapshot and the program it is restored to must agree on."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

from blake3 import blake3

from pteron.flatbuf import encode
from pteron.schema.program import IDENTIFIER, ExecutionPlan, Program

if TYPE_CHECKING:
    from pteron.flatbuf import Buffer
    from pteron.runtime.state import StateEntry


class Identity:
    """The identity of a program: everything that it computes with.

    ``parts`` gives those bytes. They are read on the first use, once for all of its streams.
    """

    def __init__(self, parts: Callable[[], Iterable[Buffer]]) -> None:
        self._parts = parts

    @cached_property
    def program(self) -> str:
        """Hex digest over all parts, each preceded by its length."""
        digest = blake3(b"pteron state 1\0")
        for part in self._parts():
            digest.update(memoryview(part).nbytes.to_bytes(8, "little"))
            digest.update(part)
        return digest.hexdigest()

    def of(self, states: Mapping[str, StateEntry]) -> str:
        """Hex digest over the program, and every state's name, dtype and shape."""
        described = [(name, e.dtype.name, e.shape) for name, e in states.items()]
        return blake3(f"{self.program} {described}".encode()).hexdigest(length=16)


def plan_bytes(plans: Iterable[ExecutionPlan]) -> bytes:
    """Execution plans in one canonical form, without what only helps to debug them."""
    bare = [
        replace(plan, chains=[replace(chain, stacktrace=None) for chain in plan.chains])
        for plan in plans
    ]
    return b"".join(map(bytes, encode(Program(execution_plan=bare), IDENTIFIER).pieces))
