"""Streams over a program file: payloads compiled once, memory and sessions owned by each stream."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

from pteron.errors import FormatError
from pteron.files.mutable_buffers import state_values
from pteron.files.operators import called_operators, operator_names
from pteron.files.parts import named_views
from pteron.runtime.delegate_state import DelegateState
from pteron.runtime.delegates import PayloadLoader, PreparedDelegate, prepare
from pteron.runtime.identity import Identity, plan_bytes
from pteron.runtime.interpreter import DelegateFunction, Interpreter, Step
from pteron.runtime.kernels import find_kernels
from pteron.runtime.memory import PlannedMemory, SharedArenas
from pteron.runtime.method import Method
from pteron.runtime.module import Module
from pteron.runtime.parameters import inputs_of, outputs_of
from pteron.runtime.program_state import ProgramState
from pteron.runtime.rows import WRITE_ROW
from pteron.runtime.sessions import Sessions
from pteron.runtime.state import ModuleState, StateEntry
from pteron.runtime.timeline import Place, Timeline, op_times
from pteron.runtime.turns import Turns, new_turns
from pteron.schema.program import (
    DelegateCall,
    ExecutionPlan,
    KernelCall,
    Tensor,
    TensorDataLocation,
)

if TYPE_CHECKING:
    from pteron.engines.base import Session
    from pteron.files import PTEFile
    from pteron.flatbuf import Buffer

Found = tuple[str | None, str, StateEntry]
"""A state's own name if it has one, a name made of its place, and the state."""


class ProgramStreams:
    """Every delegate and operator of every method, made ready; see :meth:`new_stream`."""

    def __init__(
        self,
        file: PTEFile,
        external: Mapping[str, memoryview],
        loader: PayloadLoader,
        close: Callable[[], None],
        timeline: Timeline | None = None,
    ) -> None:
        self._timeline = timeline
        self._file = file
        self._external = external
        self._loader = loader
        self._close = close
        self._identity = Identity(self._identity_parts)
        self._plans = {name: method.plan for name, method in file.methods.items()}
        self._calls = {name: called_operators(plan) for name, plan in self._plans.items()}
        operators = (name for calls in self._calls.values() for name in calls)
        self._kernels = find_kernels(name for name in operators if name != WRITE_ROW)
        self._delegates: dict[str, list[PreparedDelegate]] = {name: [] for name in self._plans}
        blobs = named_views(file.named_data) | dict(external)
        for delegate in file.delegates:
            self._delegates[delegate.method].append(prepare(delegate, blobs, loader))

    def new_stream(self) -> Module:
        """A module with sessions and planned memory, and so with state, of its own."""
        turns = new_turns()
        shared = SharedArenas(self._plans.values())
        methods: dict[str, Method] = {}
        found: list[Found] = []
        all_sessions = Sessions()
        for name in self._plans:
            sessions = [all_sessions.of(delegate) for delegate in self._delegates[name]]
            interpreter = self._interpreter(name, sessions, shared)
            methods[name] = self._method(name, interpreter, turns)
            found += self._delegate_states(name, sessions, all_sessions, turns)
            found += self._program_states(name, interpreter, turns)
        states = named(found)
        return Module(
            methods,
            ModuleState(states, self._identity, turns),
            self._loader.records,
            self.new_stream,
            self.close,
        )

    def _identity_parts(self) -> Iterator[Buffer]:
        """What the program computes with: its plans, constants and payloads."""
        yield plan_bytes(self._plans.values())
        yield from self._file.constants
        yield from self._external.values()
        for record in self._loader.records:
            yield record.digest.encode()

    def close(self) -> None:
        """Let go of cache entries and of the file."""
        self._loader.close()
        self._close()

    def _interpreter(
        self, name: str, sessions: Sequence[Session], shared: SharedArenas
    ) -> Interpreter:
        plan = self._plans[name]
        # Arenas beyond the scratch one hold state that other methods may write.
        planned = self._calls[name] or plan.non_const_buffer_sizes[2:]
        memory = PlannedMemory(plan, shared) if planned else None
        functions: list[DelegateFunction] = [
            partial(_call, delegate, session, f"method '{name}', delegate {index}")
            for index, (delegate, session) in enumerate(
                zip(self._delegates[name], sessions, strict=True)
            )
        ]
        watch = partial(self._watched, plan, sessions) if self._timeline is not None else None
        return Interpreter(plan, self._data_of, memory, self._kernels, functions, watch)

    def _watched(
        self,
        plan: ExecutionPlan,
        sessions: Sequence[Session],
        index: int,
        instruction: object,
        step: Step,
    ) -> Step:
        """A call's step that leaves its times in the timeline; other instructions take none."""
        assert self._timeline is not None
        if isinstance(instruction, KernelCall):
            name = operator_names(plan)[instruction.op_index]
            return self._timeline.timed(Place(plan.name, index, "kernel", name), step)
        if isinstance(instruction, DelegateCall):
            number = instruction.delegate_index
            place = Place(plan.name, index, "delegate", plan.delegates[number].id, number)
            function = self._delegates[plan.name][number].function.name
            inside = partial(op_times, sessions[number], function)
            return self._timeline.timed(place, step, inside)
        return step

    def _method(self, name: str, interpreter: Interpreter, turns: Turns) -> Method:
        plan = self._plans[name]
        told = [delegate.compilation for delegate in self._delegates[name]]
        compilations = [compilation for compilation in told if compilation is not None]
        return Method(name, inputs_of(plan), outputs_of(plan), interpreter, turns, compilations)

    def _data_of(self, tensor: Tensor) -> memoryview | None:
        extra = tensor.extra_tensor_info
        if extra is None or extra.location != TensorDataLocation.EXTERNAL:
            return self._file.data_of(tensor)
        key = extra.fully_qualified_name or ""
        if key not in self._external:
            raise FormatError(
                f"the data of '{key}' is outside of the program; pass the .ptd file that has it"
            )
        return self._external[key]

    def _delegate_states(
        self, method: str, sessions: Sequence[Session], stream: Sessions, turns: Turns
    ) -> Iterator[Found]:
        pairs = zip(self._delegates[method], sessions, strict=True)
        for index, (delegate, session) in enumerate(pairs):
            for info in delegate.function.states:
                if not stream.is_new(session, info.name):
                    continue  # another method's delegate has the same state
                entry = DelegateState(delegate.names[info.name], info, session, turns)
                yield entry.name, f"{method}.delegate_{index}.{info.name}", entry

    def _program_states(
        self, method: str, interpreter: Interpreter, turns: Turns
    ) -> Iterator[Found]:
        if not self._calls[method]:
            return
        for position, (index, name) in enumerate(state_values(self._plans[method])):
            place = f"{method}.state_{position}"
            yield name, place, ProgramState(name or place, interpreter.value(index), turns)


def _call(
    delegate: PreparedDelegate, session: Session, where: str, arguments: Sequence[Any]
) -> list[Any]:
    return delegate.call(session, arguments, where)


def named(found: Sequence[Found]) -> dict[str, StateEntry]:
    """States by name. One without a name, or whose name another one has too, goes by its place.

    Methods that keep a program-owned state at the same bytes share it: it is listed once.
    """
    distinct = _distinct(found)
    names = [name for name, _, _ in distinct]
    states: dict[str, StateEntry] = {}
    for name, place, entry in distinct:
        entry.name = name if name is not None and names.count(name) == 1 else place
        states[entry.name] = entry
    return states


def _distinct(found: Sequence[Found]) -> list[Found]:
    seen: set[tuple[str | None, int]] = set()
    distinct: list[Found] = []
    for name, place, entry in found:
        address = entry.address if isinstance(entry, ProgramState) else id(entry)
        if (name, address) not in seen:
            seen.add((name, address))
            distinct.append((name, place, entry))
    return distinct
