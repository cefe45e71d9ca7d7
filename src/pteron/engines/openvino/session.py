"""One stream of calls over compiled functions: its inference requests and its states' values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.engines.base import OpTime
from pteron.engines.openvino.function import CompiledFunction
from pteron.engines.openvino.profile import op_times, operations
from pteron.engines.openvino.runner import Runner
from pteron.engines.openvino.state_slots import PagesSlot, Slot, VariableSlot
from pteron.engines.openvino.states import SharedStates
from pteron.errors import EngineError, UsageError

Array = NDArray[np.generic]


class OpenVINOSession:
    """Runs functions one at a time; states go from one function to the next."""

    def __init__(self, functions: Mapping[str, CompiledFunction]) -> None:
        self._functions = functions
        self._runners: dict[str, Runner] = {}
        self._pages: dict[tuple[str, str, tuple[int, ...]], PagesSlot] = {}
        self._operations: dict[str, Mapping[str, tuple[str, ...]]] = {}
        states = {s.name: s for function in functions.values() for s in function.info.states}
        self._states = SharedStates(states)

    def run(self, function: str, inputs: Sequence[Array]) -> list[Array]:
        runner = self._runners.get(function) or self._new_runner(function)
        self._states.move_to(runner.slots)
        return runner.run(inputs)

    def op_times(self, function: str) -> list[OpTime]:
        runner = self._runners.get(function)
        model = self._functions[function].model
        if runner is None or not model.get_property("PERF_COUNT"):
            return []
        if function not in self._operations:
            self._operations[function] = operations(model)
        return op_times(runner.request, self._operations[function])

    def read_state(self, name: str) -> Array:
        return self._states.read(name)

    def write_state(self, name: str, value: Array) -> None:
        self._states.write(name, value)

    def reset_state(self, name: str) -> None:
        self._states.reset(name)

    def _new_runner(self, function: str) -> Runner:
        if function not in self._functions:
            known = ", ".join(self._functions)
            raise UsageError(f"there is no function '{function}'; the payload has: {known}")
        compiled = self._functions[function]
        try:
            request = compiled.model.create_infer_request()
        except RuntimeError as error:
            message = f"function '{function}' cannot be made ready: {error}"
            raise EngineError(message, function=function) from error
        runner = Runner(compiled, request, self._new_slots(compiled, request))
        self._runners[function] = runner
        return runner

    def _new_slots(self, function: CompiledFunction, request: Any) -> dict[str, Slot]:
        """Where a function keeps its states; functions with pages alike share them."""
        slots: dict[str, Slot] = {v.name: VariableSlot(v) for v in request.query_state()}
        for page in function.pages:
            port = function.model.inputs[page.input]
            kind = port.get_element_type()
            alike = page.state, kind.get_type_name(), page.pages
            if alike not in self._pages:
                self._pages[alike] = PagesSlot(kind, page.pages, page.rows)
            request.set_tensor(port, self._pages[alike].tensor)
            slots[page.state] = self._pages[alike]
        return slots
