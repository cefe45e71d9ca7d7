"""A loaded program: methods to call, and the state they keep."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from types import TracebackType
from typing import Any

from pteron.errors import UsageError
from pteron.runtime.delegates import LoadRecord
from pteron.runtime.method import Method
from pteron.runtime.state import ModuleState
from pteron.suggestions import listed, meant


class Module:
    """One stream over a program: its methods share weights with other forks, its state is its own.

    A module may be called from several threads; calls and state accesses take turns, see
    :mod:`pteron.runtime.turns`. For work in parallel give each thread its own :meth:`fork`.

    Attributes:
        methods: every method by name.
        state: every state by name; see :class:`pteron.runtime.state.ModuleState`.
        load_records: how each payload became a compiled model.
        default: name of the method that is meant where none is named: a Core ML package's default
            function; of a program ``forward``, ``main``, or the only method. None without one.
    """

    def __init__(
        self,
        methods: Mapping[str, Method],
        state: ModuleState,
        load_records: Sequence[LoadRecord],
        new_stream: Callable[[], Module],
        close: Callable[[], None],
        default: str | None = None,
    ) -> None:
        self.methods = dict(methods)
        self.default = _default(self.methods) if default is None else default
        self.state = state
        self.load_records = tuple(load_records)
        self._new_stream = new_stream
        self._close = close

    def forward(self, *args: object, **kwargs: object) -> tuple[Any, ...]:
        """Call the method ``forward``; of a Core ML package, its default function."""
        return self.method()(*args, **kwargs)

    __call__ = forward

    def method(self, name: str | None = None) -> Method:
        """A method by name; without one, :attr:`default`.

        Raises UsageError, naming the methods there are.
        """
        wanted = (self.default or "forward") if name is None else name
        if wanted in self.methods:
            return self.methods[wanted]
        hint = meant(wanted, self.methods)
        raise UsageError(
            f"no method '{wanted}' in this program{hint}; its methods: {listed(self.methods)}"
        )

    def fork(self) -> Module:
        """A second stream: it shares the compiled models and starts with this stream's state."""
        child = self._new_stream()
        child.state.restore(self.state.snapshot())
        return child

    def close(self) -> None:
        """Let go of the file and of cache entries. Forks share them and end too."""
        self._close()

    def __enter__(self) -> Module:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        return f"<Module methods={list(self.methods)} states={list(self.state)}>"


def _default(methods: Collection[str]) -> str | None:
    """The method that a program means where none is named, if there is one."""
    candidates = methods if len(methods) == 1 else ("forward", "main")
    return next((name for name in candidates if name in methods), None)
