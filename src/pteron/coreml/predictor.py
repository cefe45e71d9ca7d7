"""One coremltools model, predicting by name as coremltools does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from pteron.coreml.features import to_array, to_feature
from pteron.coreml.predictor_state import PredictorState
from pteron.engines import select
from pteron.engines.base import EngineOptions, FunctionInfo
from pteron.engines.description import features
from pteron.errors import UsageError
from pteron.payloads.coreml.package import BACKEND_ID, CoreMLPackage, directory_source


class Predictor:
    """Compiles a model's package once, and converts features on the way in and out."""

    def __init__(self, model: Any, options: EngineOptions) -> None:
        if model.package_path is None:
            raise UsageError("only ML programs, which are packages, can predict off macOS")
        package = CoreMLPackage(directory_source(model.package_path))
        self._compiled = select(BACKEND_ID, "openvino").compile_in_memory(package.source, options)
        name = getattr(model, "function_name", None) or next(iter(self._compiled.functions))
        self._info: FunctionInfo = self._compiled.functions[name]
        self._described = features(package, name).described

    def make_state(self) -> PredictorState:
        """A new state, all zeros; of a model without states an empty one, as Core ML's."""
        return PredictorState(self, self._compiled.new_session(), self._info.states)

    def predict(self, data: Any, state: PredictorState | None) -> Any:
        """A dictionary of outputs by name; a list of them for a list of inputs.

        Raises UsageError for a state that this predictor did not make.
        """
        if isinstance(data, list):
            return [self.predict(item, state) for item in data]
        outputs = self._own(state).run(self._info.name, self._inputs(data))
        return {
            value.name: to_feature(self._described.get(value.name), output)
            for value, output in zip(self._info.outputs, outputs, strict=True)
        }

    def _own(self, state: object) -> PredictorState:
        if state is None:
            if self._info.states:
                raise UsageError(
                    "the model has states: pass predict(data, state=model.make_state())"
                )
            return self.make_state()
        if not isinstance(state, PredictorState):
            came = type(state).__name__
            raise UsageError(f"state must be what model.make_state() returns, not {came}")
        if state.maker is not self:
            none = "" if self._info.states else ", and this one has no states"
            raise UsageError(
                f"the state belongs to another model{none}: pass what make_state() of the model "
                "that predicts returns"
            )
        return state

    def _inputs(self, data: Any) -> Sequence[NDArray[Any]]:
        if not isinstance(data, Mapping):
            came = type(data).__name__
            raise UsageError(f"predict takes a dictionary of inputs by name, not {came}")
        known = {value.name: value for value in self._info.inputs}
        for name in data:
            if name not in known:
                takes = ", ".join(f"{value.name}: {value}" for value in known.values())
                raise UsageError(f"there is no input '{name}'; the model takes ({takes})")
        return [to_array(value, data) for value in self._info.inputs]
