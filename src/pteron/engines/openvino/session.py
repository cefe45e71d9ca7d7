"""One stream of calls over compiled functions: its inference requests and its states' values."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.engines.base import FunctionInfo, OpTime, ValueInfo
from pteron.engines.openvino.checks import verify
from pteron.engines.openvino.function import CompiledFunction
from pteron.engines.openvino.profile import op_times, operations
from pteron.engines.openvino.state_slots import PagesSlot, Slot, VariableSlot, kept_on_error
from pteron.engines.openvino.states import SharedStates
from pteron.errors import EngineError, UsageError

Array = NDArray[np.generic]


class OpenVINOSession:
    """Runs functions one at a time; states go from one function to the next."""

    def __init__(self, functions: Mapping[str, CompiledFunction]) -> None:
        self._functions = functions
        self._requests: dict[str, Any] = {}
        self._slots: dict[str, dict[str, Slot]] = {}
        self._pages: dict[tuple[str, str, tuple[int, ...]], PagesSlot] = {}
        self._operations: dict[str, Mapping[str, tuple[str, ...]]] = {}
        states = {s.name: s for function in functions.values() for s in function.info.states}
        self._states = SharedStates(states)

    def run(self, function: str, inputs: Sequence[Array]) -> list[Array]:
        if function not in self._functions:
            known = ", ".join(self._functions)
            raise UsageError(f"there is no function '{function}'; the payload has: {known}")
        compiled = self._functions[function]
        info, labels = compiled.info, compiled.labels
        _check(info, inputs)
        request = self._request(function)
        self._states.move_to(self._slots[function])
        if compiled.checks:
            with kept_on_error(self._slots[function].values()):
                _infer(request, function, inputs)
                answers = request.get_output_tensor(len(info.outputs)).data
                verify(compiled.checks, answers, function)
        else:
            _infer(request, function, inputs)
        return [
            _output(value, request.get_output_tensor(index).data, labels.get(value.name))
            for index, value in enumerate(info.outputs)
        ]

    def op_times(self, function: str) -> list[OpTime]:
        request = self._requests.get(function)
        model = self._functions[function].model
        if request is None or not model.get_property("PERF_COUNT"):
            return []
        if function not in self._operations:
            self._operations[function] = operations(model)
        return op_times(request, self._operations[function])

    def read_state(self, name: str) -> Array:
        return self._states.read(name)

    def write_state(self, name: str, value: Array) -> None:
        self._states.write(name, value)

    def reset_state(self, name: str) -> None:
        self._states.reset(name)

    def _request(self, function: str) -> Any:
        if function not in self._requests:
            request = self._functions[function].model.create_infer_request()
            self._slots[function] = self._new_slots(self._functions[function], request)
            self._requests[function] = request
        return self._requests[function]

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


def _infer(request: Any, function: str, inputs: Sequence[Array]) -> None:
    try:
        request.infer(list(inputs), share_inputs=True)
    except RuntimeError as error:
        raise EngineError(f"function '{function}': {error}", function=function) from error


def _output(value: ValueInfo, computed: Array, labels: list[Any] | None) -> Array:
    """A copy of an output; of a classifier's, what its probabilities say of its classes."""
    if labels is None:
        return computed.copy()
    if value.dtype == "object":
        return np.array(dict(zip(labels, computed.tolist(), strict=True)), dtype=object)
    return np.array(labels[int(computed.argmax())])


def _check(info: FunctionInfo, inputs: Sequence[Array]) -> None:
    if len(inputs) != len(info.inputs):
        names = ", ".join(value.name for value in info.inputs)
        raise UsageError(
            f"'{info.name}' takes {len(info.inputs)} inputs ({names}), not {len(inputs)}"
        )
    for value, array in zip(info.inputs, inputs, strict=True):
        if array.dtype != value.dtype or not value.accepts(array.shape):
            raise UsageError(
                f"'{info.name}': input '{value.name}' must be {value}, "
                f"not {array.dtype}{list(array.shape)}"
            )
