"""One entry point of a loaded module, callable with arrays."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from pteron.engines.base import Compilation
from pteron.runtime.signature import Parameter, bind
from pteron.runtime.turns import Turns


class Method:
    """A method of a program, or a function of a Core ML package.

    Call it with one array per input, by position or by name; it returns a tuple with one value
    per output. Arrays may be NumPy, or anything with ``__dlpack__`` or ``__array__``; outputs are
    NumPy arrays that belong to the caller.

    Attributes:
        name: the method's name.
        inputs: what it takes.
        outputs: what it gives.
        compilations: what engines did to the payload functions it calls, where they tell.
    """

    def __init__(
        self,
        name: str,
        inputs: Sequence[Parameter],
        outputs: Sequence[Parameter],
        execute: Callable[[list[Any]], list[Any]],
        turns: Turns,
        compilations: Sequence[Compilation] = (),
    ) -> None:
        self.name = name
        self.inputs = tuple(inputs)
        self.outputs = tuple(outputs)
        self.compilations = tuple(compilations)
        self._where = f"method '{name}'"
        self._execute = execute
        self._turns = turns

    def __call__(self, *args: object, **kwargs: object) -> tuple[Any, ...]:
        """Run once. Raises UsageError for wrong inputs and EngineError when execution fails."""
        values = bind(self.inputs, args, kwargs, self._where)
        with self._turns:
            return tuple(self._execute(values))

    def __repr__(self) -> str:
        inputs = ", ".join(map(str, self.inputs))
        outputs = ", ".join(map(str, self.outputs))
        return f"<method {self.name}({inputs}) -> ({outputs})>"
