"""One function in one session: its inference request, and where that keeps states."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.engines.base import ValueInfo
from pteron.engines.openvino.checks import verify
from pteron.engines.openvino.failure import call_failed
from pteron.engines.openvino.function import CompiledFunction
from pteron.engines.openvino.inference import Inference
from pteron.engines.openvino.state_slots import Slot, kept_on_error
from pteron.errors import UsageError

Array = NDArray[np.generic]


class Runner:
    """Calls a function.

    Attributes:
        request: OpenVINO's inference request.
        slots: where it keeps each state, by the state's name.
    """

    def __init__(self, function: CompiledFunction, request: Any, slots: Mapping[str, Slot]) -> None:
        self.request = request
        self.slots = slots
        self._function = function
        self._expected = [(np.dtype(value.dtype), value) for value in function.info.inputs]
        self._infer = Inference(function.model, request, len(self._expected))

    def run(self, inputs: Sequence[Array]) -> list[Array]:
        """One call; see :meth:`pteron.engines.base.Session.run`."""
        self._check(inputs)
        if self._function.checks:
            with kept_on_error(self.slots.values()):
                self._compute(inputs)
                self._verify()
        else:
            self._compute(inputs)
        labels = self._function.labels
        return [
            _output(value, self._infer.output(index), labels.get(value.name))
            for index, value in enumerate(self._function.info.outputs)
        ]

    def _compute(self, inputs: Sequence[Array]) -> None:
        try:
            self._infer(inputs)
        except (RuntimeError, MemoryError) as error:
            raise call_failed(self._function.info.name, error) from error

    def _verify(self) -> None:
        info = self._function.info
        answers = self._infer.output(len(info.outputs))
        verify(self._function.checks, answers, info.name)

    def _check(self, inputs: Sequence[Array]) -> None:
        info = self._function.info
        if len(inputs) != len(self._expected):
            names = ", ".join(value.name for value in info.inputs)
            raise UsageError(
                f"'{info.name}' takes {len(info.inputs)} inputs ({names}), not {len(inputs)}"
            )
        for array, (dtype, value) in zip(inputs, self._expected, strict=True):
            if array.dtype != dtype or not value.accepts(array.shape):
                raise UsageError(
                    f"'{info.name}': input '{value.name}' must be {value}, "
                    f"not {array.dtype}{list(array.shape)}"
                )


def _output(value: ValueInfo, computed: Array, labels: list[Any] | None) -> Array:
    """A copy of an output; of a classifier's, what its probabilities say of its classes."""
    if labels is None:
        return computed.copy()
    if value.dtype == "object":
        return np.array(dict(zip(labels, computed.tolist(), strict=True)), dtype=object)
    return np.array(labels[int(computed.argmax())])
