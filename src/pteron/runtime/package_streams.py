"""Streams over a plain Core ML package: a method per function, the default one first."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING, Any

from pteron.engines.base import Compilation, CompiledModel, FunctionInfo, Session
from pteron.runtime.delegate_state import DelegateState
from pteron.runtime.delegates import PayloadLoader, compilation
from pteron.runtime.feature_parameter import FeatureParameter
from pteron.runtime.identity import Identity
from pteron.runtime.method import Method
from pteron.runtime.module import Module
from pteron.runtime.state import ModuleState, StateEntry
from pteron.runtime.timeline import Place, Timeline, op_times
from pteron.runtime.turns import Turns, new_turns

if TYPE_CHECKING:
    from pteron.payloads.base import PayloadSource

Execute = Callable[[list[Any]], list[Any]]


class PackageStreams:
    """The package compiled once; see :meth:`new_stream`."""

    def __init__(
        self, source: PayloadSource, loader: PayloadLoader, timeline: Timeline | None = None
    ) -> None:
        self._loader = loader
        self._timeline = timeline
        self._backend = source.backend_id
        self._compiled: CompiledModel = loader.load(source)
        self._identity = Identity(lambda: [source.digest().encode()])

    def new_stream(self) -> Module:
        """A module with a session, and so with state, of its own; functions share state."""
        turns = new_turns()
        session = self._compiled.new_session()
        functions = self._compiled.functions
        methods = {
            name: _method(
                info, self._execute(name, session), turns, compilation(self._compiled, name)
            )
            for name, info in functions.items()
        }
        infos = {info.name: info for f in functions.values() for info in f.states}
        states: dict[str, StateEntry] = {
            name: DelegateState(name, info, session, turns) for name, info in infos.items()
        }
        return Module(
            methods,
            ModuleState(states, self._identity, turns),
            self._loader.records,
            self.new_stream,
            self._loader.close,
            next(iter(functions), None),
        )

    def _execute(self, function: str, session: Session) -> Execute:
        execute = partial(session.run, function)
        if self._timeline is None:
            return execute
        place = Place(function, 0, "delegate", self._backend, 0)
        return self._timeline.timed(place, execute, partial(op_times, session, function))


def _method(
    function: FunctionInfo, execute: Execute, turns: Turns, told: Compilation | None
) -> Method:
    return Method(
        function.name,
        [FeatureParameter.of(info) for info in function.inputs],
        [FeatureParameter.of(info) for info in function.outputs],
        execute,
        turns,
        () if told is None else (told,),
    )
