"""What a program computes, instruction by instruction, and inside of its delegates."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from pteron.files import Delegate, PTEFile
from pteron.files.parts import named_views
from pteron.layers.exposed import exposed
from pteron.payloads import open_payload
from pteron.payloads.coreml.package import BACKEND_ID
from pteron.runtime.arrays import Array
from pteron.runtime.delegates import PayloadLoader, PreparedDelegate
from pteron.runtime.timeline import Place, Timeline
from pteron.schema.program import KernelCall, TensorList

T = TypeVar("T")


@dataclass(frozen=True)
class Seen:
    """One instruction that ran: the plan's values that it wrote, and those inside a delegate."""

    place: Place
    written: Mapping[int, Array]
    inside: Mapping[str, Array] = field(default_factory=dict)


class Recorder(Timeline):
    """Given to a module, keeps what each instruction of the last call computed.

    ``wanted`` are, by method, the indices of the plan's values to keep; ``external`` is data from
    outside of the file, by key. Delegates are run a second time beside, in a form that gives out
    all it computes, with a state of its own.
    """

    def __init__(
        self,
        file: PTEFile,
        wanted: Mapping[str, Collection[int]],
        loader: PayloadLoader,
        external: Mapping[str, memoryview],
    ) -> None:
        super().__init__()
        self.seen: list[Seen] = []
        self._wanted = wanted
        self._plans = {name: method.plan for name, method in file.methods.items()}
        self._probes = {
            (delegate.method, delegate.index): Probe(file, delegate, loader, external)
            for delegate in file.delegates
            if delegate.backend_id == BACKEND_ID
        }

    def reset(self) -> None:
        """Forget what was seen, and give the delegates' states their first values."""
        self.seen.clear()
        for probe in self._probes.values():
            probe.reset()

    def timed(
        self,
        place: Place,
        function: Callable[..., T],
        op_times: Callable[[], Sequence[Any]] = tuple,
    ) -> Callable[..., T]:
        """``function``, a step on a plan's values, leaving what it wrote at every call."""
        plan = self._plans[place.method]
        step: Any = plan.chains[0].instructions[place.instruction].instr_args
        indices = step.args
        if isinstance(step, KernelCall):
            last = plan.values[step.args[-1]].val
            indices = list(last.items) if isinstance(last, TensorList) else step.args[-1:]
        kept = [index for index in indices if index in self._wanted[place.method]]
        probe = self._probes.get((place.method, -1 if place.delegate is None else place.delegate))

        def call(values: list[Any]) -> T:
            inside = probe([values[index] for index in step.args]) if probe else {}
            result = function(values)
            written = {index: np.array(values[index]) for index in kept}
            self.seen.append(Seen(place, written, inside))
            return result

        return call


class Probe:
    """A delegate that gives out every value it computes."""

    def __init__(
        self,
        file: PTEFile,
        delegate: Delegate,
        loader: PayloadLoader,
        external: Mapping[str, memoryview],
    ) -> None:
        blobs = named_views(file.named_data)
        blobs |= external
        payload = open_payload(delegate.backend_id, delegate.payload, blobs, delegate.method)
        source = exposed(payload)
        compiled = loader.load(source)
        name = next(iter(compiled.functions)) if source.function is None else source.function
        self._prepared = PreparedDelegate(compiled, compiled.functions[name], {})
        self.reset()

    def reset(self) -> None:
        """Give the states their first values."""
        self._session = self._prepared.compiled.new_session()

    def __call__(self, arguments: Sequence[Any]) -> dict[str, Array]:
        """Every value by its name in the payload, in order."""
        outputs = self._prepared.call(self._session, arguments, "inside a delegate")
        names = (output.name for output in self._prepared.function.outputs)
        return dict(zip(names, outputs, strict=True))
