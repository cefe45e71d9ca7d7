"""The real ExecuTorch runtime, as the judge of emitted programs."""

from __future__ import annotations

from typing import Any

from executorch.runtime import Runtime

from pteron.files import PTEFile


class ExecuTorchProgram:
    """A program loaded by ExecuTorch; it keeps the bytes, which ExecuTorch does not copy.

    Every method is loaded before any is called: loading one puts the first values of the state
    that it uses into the arena that all methods share.
    """

    def __init__(self, file: PTEFile) -> None:
        self._data = file.to_bytes()
        self._program = Runtime.get().load_program(self._data)
        self._methods = {name: self._program.load_method(name) for name in file.methods}

    def run(self, *inputs: Any, method: str = "forward") -> list[Any]:
        """Call a method; its outputs are copied out of the arena."""
        outputs = self._methods[method].execute(list(inputs))
        return [value.clone() if hasattr(value, "clone") else value for value in outputs]
