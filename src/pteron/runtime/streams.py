"""Streams over a program file, or over a Core ML package: compiled once, state owned by each.

Both classes do the same job for two kinds of source: compile every payload when made, then give
out a :class:`Module` per stream.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import partial
from hashlib import blake2b
from threading import Lock
from typing import TYPE_CHECKING, Any

import numpy as np

from pteron.engines.base import CompiledModel, FunctionInfo, Session, ValueInfo
from pteron.files import PTEFile
from pteron.runtime.delegates import PayloadLoader, PreparedDelegate, prepare
from pteron.runtime.interpreter import Interpreter, refuse_undelegated
from pteron.runtime.method import Method
from pteron.runtime.module import Module
from pteron.runtime.parameters import inputs_of, outputs_of
from pteron.runtime.signature import UNBOUNDED, Parameter
from pteron.runtime.state import DelegateState, ModuleState, StateEntry

if TYPE_CHECKING:
    from pteron.payloads.base import PayloadSource


class ProgramStreams:
    """Streams over a PTE file: every delegate of every method, ready to be called."""

    def __init__(self, file: PTEFile, loader: PayloadLoader, close: Callable[[], None]) -> None:
        for method in file.methods.values():
            refuse_undelegated(method.plan)
        self._file = file
        self._loader = loader
        self._close = close
        self._prepared: dict[str, list[PreparedDelegate]] = {name: [] for name in file.methods}
        for delegate in file.delegates:
            self._prepared[delegate.method].append(prepare(delegate, file, loader))

    def new_stream(self) -> Module:
        """A module with sessions, and so with state, of its own."""
        lock = Lock()
        sessions = {
            name: [delegate.compiled.new_session() for delegate in delegates]
            for name, delegates in self._prepared.items()
        }
        methods = {name: self._method(name, sessions[name], lock) for name in self._file.methods}
        states = _unique(self._states(sessions, lock))
        return Module(
            methods,
            ModuleState(states, _identity(states, self._loader)),
            self._loader.records,
            self.new_stream,
            self.close,
        )

    def close(self) -> None:
        """Let go of cache entries and of the file."""
        self._loader.close()
        self._close()

    def _method(self, name: str, sessions: Sequence[Session], lock: Lock) -> Method:
        method = self._file.methods[name]
        pairs = zip(self._prepared[name], sessions, strict=True)
        calls = [
            partial(_call, delegate, session, f"method '{name}', delegate {index}")
            for index, (delegate, session) in enumerate(pairs)
        ]
        return Method(
            name,
            inputs_of(method.plan, self._prepared[name]),
            outputs_of(method.plan, self._prepared[name]),
            Interpreter(self._file, method.plan, calls),
            lock,
        )

    def _states(
        self, sessions: Mapping[str, Sequence[Session]], lock: Lock
    ) -> Iterable[tuple[str, str, StateEntry]]:
        for method, delegates in self._prepared.items():
            pairs = zip(delegates, sessions[method], strict=True)
            for index, (delegate, session) in enumerate(pairs):
                for info in delegate.function.states:
                    name = delegate.names[info.name]
                    yield name, f"{method}.{index}", DelegateState(name, info, session, lock)


def _call(
    delegate: PreparedDelegate, session: Session, where: str, arguments: Sequence[Any]
) -> list[Any]:
    return delegate.call(session, arguments, where)


class PackageStreams:
    """Streams over a plain Core ML package: a method per function, the default one first."""

    def __init__(self, source: PayloadSource, loader: PayloadLoader) -> None:
        self._loader = loader
        self._compiled: CompiledModel = loader.load(source)

    def new_stream(self) -> Module:
        """A module with a session, and so with state, of its own."""
        lock = Lock()
        session = self._compiled.new_session()
        functions = self._compiled.functions
        methods = {name: _function_method(info, session, lock) for name, info in functions.items()}
        infos = {info.name: info for f in functions.values() for info in f.states}
        states: dict[str, StateEntry] = {
            name: DelegateState(name, info, session, lock) for name, info in infos.items()
        }
        return Module(
            methods,
            ModuleState(states, _identity(states, self._loader)),
            self._loader.records,
            self.new_stream,
            self._loader.close,
        )


def _function_method(function: FunctionInfo, session: Session, lock: Lock) -> Method:
    return Method(
        function.name,
        [payload_parameter(info) for info in function.inputs],
        [payload_parameter(info) for info in function.outputs],
        partial(session.run, function.name),
        lock,
    )


def payload_parameter(info: ValueInfo) -> Parameter:
    """A payload's input or output as a method's."""
    ranges = info.range or tuple((size or 0, size or 0) for size in info.shape)
    highest = tuple(high if high >= 0 else UNBOUNDED for _, high in ranges)
    return Parameter(info.name, np.dtype(info.dtype), highest, tuple(low for low, _ in ranges))


def _unique(states: Iterable[tuple[str, str, StateEntry]]) -> dict[str, StateEntry]:
    """States by name; a name that two delegates use is told apart by method and delegate."""
    listed = list(states)
    names = [name for name, _, _ in listed]
    unique: dict[str, StateEntry] = {}
    for name, place, entry in listed:
        entry.name = name if names.count(name) == 1 else f"{place}.{name}"
        unique[entry.name] = entry
    return unique


def _identity(states: Mapping[str, StateEntry], loader: PayloadLoader) -> str:
    """What a snapshot must agree on: the payloads, and every state's name, dtype and shape."""
    digest = blake2b(digest_size=16)
    for record in loader.records:
        digest.update(record.digest.encode())
    for name, entry in states.items():
        digest.update(f"{name}:{entry.dtype.name}{entry.shape}".encode())
    return digest.hexdigest()
