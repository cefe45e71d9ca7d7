"""One coremltools model, predicting by name as coremltools does."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.coreml.features import to_array, to_feature
from pteron.engines import select
from pteron.engines.base import EngineOptions, FunctionInfo, Session
from pteron.engines.description import features
from pteron.errors import UsageError
from pteron.payloads.coreml.package import BACKEND_ID, CoreMLPackage, directory_source


class PredictorState:
    """The value of a stateful model's states, as ``MLModel.make_state`` hands it out."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def read_state(self, name: str) -> NDArray[Any]:
        """A copy of a state's value."""
        return self._session.read_state(name)

    def write_state(self, name: str, value: NDArray[Any]) -> None:
        """Set a state's value; it is converted to the state's dtype."""
        current = self._session.read_state(name)
        self._session.write_state(name, np.asarray(value, current.dtype).reshape(current.shape))


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
        return PredictorState(self._compiled.new_session())

    def predict(self, data: Any, state: PredictorState | None) -> Any:
        """A dictionary of outputs by name; a list of them for a list of inputs."""
        if isinstance(data, list):
            return [self.predict(item, state) for item in data]
        if self._info.states and state is None:
            raise UsageError("the model has states: pass predict(data, state=model.make_state())")
        session = state._session if state else self._compiled.new_session()
        outputs = session.run(self._info.name, self._inputs(data))
        return {
            value.name: to_feature(self._described.get(value.name), output)
            for value, output in zip(self._info.outputs, outputs, strict=True)
        }

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
