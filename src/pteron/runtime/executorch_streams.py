"""A whole program on ExecuTorch's own runtime, behind the same face as the rest.

Needs the package ``executorch`` (and so torch). What its Python runtime does not offer is told
when it is asked for: state that a delegate owns cannot be reached, and program-owned state only
where the file names it (``ExecutorchBackendConfig.emit_mutable_buffer_names``, or pteron's own
lowering).
"""

from __future__ import annotations

import logging
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pteron.errors import EngineError, MissingExtraError, UnsupportedError
from pteron.files.mutable_buffers import state_values
from pteron.files.operators import called_operators
from pteron.runtime.identity import Identity, plan_bytes
from pteron.runtime.method import Method
from pteron.runtime.module import Module
from pteron.runtime.parameters import inputs_of, outputs_of
from pteron.runtime.program_state import ProgramState
from pteron.runtime.state import ModuleState, StateEntry
from pteron.runtime.turns import Turns, new_turns

if TYPE_CHECKING:
    from pathlib import Path

    from pteron.files import Method as ProgramMethod
    from pteron.files import PTEFile
    from pteron.flatbuf import Buffer

NAME = "executorch"


class ExecutorchStreams:
    """A program for ``executorch.runtime``; each stream loads it anew, and so has its own state."""

    def __init__(self, file: PTEFile, data: Sequence[Path], close: Callable[[], None]) -> None:
        self._runtime = _runtime()
        self._file = file
        self._data = data
        self._close = close
        self._identity = Identity(self._identity_parts)
        self._refuse_what_is_missing()
        if len(data) > 1:
            raise UnsupportedError("ExecuTorch's Python runtime takes one .ptd file, not several")

    def new_stream(self) -> Module:
        """Load the program and every method of it."""
        turns = new_turns()
        program = self._load()
        methods: dict[str, Method] = {}
        states: dict[str, StateEntry] = {}
        for name, method in self._file.methods.items():
            methods[name] = Method(
                name,
                inputs_of(method.plan),
                outputs_of(method.plan),
                partial(_execute, program, name),
                turns,
            )
            states |= {entry.name: entry for entry in _states(method, program, turns)}
        return Module(
            methods, ModuleState(states, self._identity, turns), (), self.new_stream, self._close
        )

    def _identity_parts(self) -> Iterator[Buffer]:
        """What the program computes with: its plans, constants and payloads, and the data file."""
        yield plan_bytes(method.plan for method in self._file.methods.values())
        yield from self._file.constants
        yield from (delegate.payload for delegate in self._file.delegates)
        yield from (blob.data for blob in self._file.named_data.values())
        yield from (path.read_bytes() for path in self._data)

    def _load(self) -> Any:
        data_path = self._data[0] if self._data else None
        try:
            return self._runtime.load_program(self._file.to_bytes(), data_path=data_path)
        except RuntimeError as error:
            raise EngineError(f"ExecuTorch's runtime refuses the program: {error}") from error

    def _refuse_what_is_missing(self) -> None:
        kernels = self._runtime.operator_registry.operator_names
        backends = set(self._runtime.backend_registry.registered_backend_names)
        plans = [method.plan for method in self._file.methods.values()]
        called = {name for plan in plans for name in called_operators(plan)}
        wanted = {delegate.backend_id for delegate in self._file.delegates}
        if missing := sorted((called - kernels) | (wanted - backends)):
            raise UnsupportedError(f"this build of ExecuTorch's runtime lacks {', '.join(missing)}")


def _runtime() -> Any:
    disabled = logging.root.manager.disable
    logging.disable(logging.WARNING)  # what the import says of torchao's libraries helps nobody
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            from executorch.runtime import Runtime
    except ModuleNotFoundError:
        raise MissingExtraError("the engine 'executorch'", "executorch") from None
    finally:
        logging.disable(disabled)
    return Runtime.get()


def _execute(program: Any, name: str, values: list[Any]) -> list[Any]:
    """One call. Takes the program, not the method, which does not keep its program alive."""
    from pteron.runtime.kernels.tensors import to_array, to_tensor

    try:
        outputs = program.load_method(name).execute([to_tensor(value) for value in values])
    except RuntimeError as error:
        raise EngineError(f"method '{name}': {error}", function=name) from error
    return [to_array(output) for output in outputs]


def _states(method: ProgramMethod, program: Any, turns: Turns) -> Iterator[ProgramState]:
    """Buffers that the runtime lets us reach: attributes, by name, of the loaded method."""
    from pteron.runtime.kernels.tensors import to_array

    loaded = program.load_method(method.name)
    for _, name in state_values(method.plan):
        if name is not None:
            memory = to_array(loaded._method.get_attribute(name))
            yield ProgramState(name, memory, turns, owner_of_memory=program)
