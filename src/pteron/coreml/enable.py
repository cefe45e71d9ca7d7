"""Give ``coremltools.models.MLModel`` the ``predict`` and ``make_state`` it lacks off macOS."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

from pteron.coreml.predictor import Predictor
from pteron.coreml.predictor_state import PredictorState
from pteron.engines.base import EngineOptions
from pteron.errors import MissingExtraError

_originals: dict[str, Any] = {}
_predictors: WeakKeyDictionary[Any, Predictor] = WeakKeyDictionary()


def enable_predict(*, precision: str = "model", threads: int | None = None) -> None:
    """Make every ``MLModel`` predict through pteron, until :func:`disable_predict`.

    ``predict(data, state)`` and ``make_state()`` then work as coremltools documents them, for ML
    programs. A model is compiled when it first predicts. A state is for the ``MLModel`` object
    that made it, and for no other. A prediction that fails raises
    :class:`~pteron.errors.EngineError`, which is a RuntimeError, coremltools' own error for it.

    Args:
        precision: ``"model"``, ``"f32"`` or ``"fast"``, as for :func:`pteron.load`.
        threads: threads a prediction may use; None leaves it to the engine.

    Raises:
        MissingExtraError: coremltools is not installed.
    """
    model_class = _model_class()
    options = EngineOptions(precision, threads)

    def predictor(model: Any) -> Predictor:
        if model not in _predictors:
            _predictors[model] = Predictor(model, options)
        return _predictors[model]

    def predict(self: Any, data: Any, state: PredictorState | None = None) -> Any:
        return predictor(self).predict(data, state)

    def make_state(self: Any) -> PredictorState:
        return predictor(self).make_state()

    for name, function in (("predict", predict), ("make_state", make_state)):
        _originals.setdefault(name, getattr(model_class, name))
        setattr(model_class, name, function)
    _predictors.clear()


def disable_predict() -> None:
    """Give coremltools its own ``predict`` and ``make_state`` back."""
    for name, function in _originals.items():
        setattr(_model_class(), name, function)
    _originals.clear()
    _predictors.clear()


def _model_class() -> Any:
    try:
        from coremltools.models import MLModel
    except ImportError as error:
        raise MissingExtraError("predict through coremltools", "lower") from error
    return MLModel
