"""What a caller may choose about a backend; plain data, importable without torch or coremltools."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pteron.errors import UsageError
from pteron.lowering.coreml import weight_formats

if TYPE_CHECKING:
    from coremltools.optimize.coreml import OptimizationConfig

DEPLOYMENT_TARGETS = ("iOS15", "iOS16", "iOS17", "iOS18", "iOS26")
COMPUTE_PRECISIONS = ("float16", "float32")
COMPUTE_UNITS = ("all", "cpu_only", "cpu_and_gpu", "cpu_and_ne")
STATE_TARGETS = ("iOS18", "iOS26")
"""Deployment targets whose Core ML has state (``read_state``, since specification version 9)."""


@dataclass(frozen=True)
class CoreML:
    """How payloads for Core ML are made.

    Attributes:
        minimum_deployment_target: the oldest system the payload runs on (``iOS18`` is also
            macOS 15); state needs ``iOS18`` or newer.
        compute_precision: dtype of the arithmetic inside the payload, ``float16`` or ``float32``.
            Inputs and outputs keep the program's own dtypes.
        compute_units: where Core ML may run it: ``all``, ``cpu_only``, ``cpu_and_gpu`` or
            ``cpu_and_ne``.
        weights: how weights are stored; ``None`` as the model has them. A short name
            (``int8``, ``int4``, ``palette4``; ``int4-block64``, ``palette4-group16``, see
            :mod:`pteron.lowering.coreml.weight_formats`) or an ``OptimizationConfig`` of
            ``coremltools.optimize.coreml``. Weights of up to 2048 elements, those with a single
            axis and tables of integers stay as they are; the report names what stayed.
        enumerated_shapes: input name -> the only shapes it may have, as in
            ``{"x": [(1, 80), (8, 80)]}``. Their n-th shapes belong together where several inputs
            vary (iOS 18). Takes the place of ``dynamic_shapes``.
        multifunction: whether delegates of several methods may be functions of one package that
            stores their common weights once (iOS 18). Done where they have any; the
            n-th delegates of all methods go together, as in ExecuTorch.

    Raises :class:`UsageError` for a value that is none of these.
    """

    minimum_deployment_target: str = "iOS18"
    compute_precision: str = "float16"
    compute_units: str = "all"
    weights: str | OptimizationConfig | None = None
    enumerated_shapes: Mapping[str, Sequence[Sequence[int]]] | None = None
    multifunction: bool = True

    def __post_init__(self) -> None:
        _check("minimum_deployment_target", self.minimum_deployment_target, DEPLOYMENT_TARGETS)
        _check("compute_precision", self.compute_precision, COMPUTE_PRECISIONS)
        _check("compute_units", self.compute_units, COMPUTE_UNITS)
        if self.weights is not None:
            _check_weights(self.weights, self.minimum_deployment_target)
        if self.enumerated_shapes is not None:
            _check_shapes(self.enumerated_shapes, self.minimum_deployment_target)

    @property
    def has_state(self) -> bool:
        """Whether the deployment target's Core ML can hold state."""
        return self.minimum_deployment_target in STATE_TARGETS


def _check(name: str, value: str, allowed: tuple[str, ...]) -> None:
    if value not in allowed:
        raise UsageError(f"{name}={value!r}: must be one of {', '.join(allowed)}")


def _check_weights(weights: object, target: str) -> None:
    if not isinstance(weights, str):
        if type(weights).__name__ != "OptimizationConfig":
            raise UsageError(
                f"weights={weights!r}: must be an OptimizationConfig of coremltools.optimize.coreml"
                f" or one of {weight_formats.SPELLING}"
            )
        return
    oldest = "iOS18" if weight_formats.parse(weights).needs_ios18 else "iOS16"
    if DEPLOYMENT_TARGETS.index(target) < DEPLOYMENT_TARGETS.index(oldest):
        raise UsageError(
            f"weights={weights!r} needs {oldest}; minimum_deployment_target is {target}"
        )


def _check_shapes(given: Mapping[str, Sequence[Sequence[int]]], target: str) -> None:
    for name, shapes in given.items():
        if len(shapes) < 2 or len({len(shape) for shape in shapes}) > 1:
            raise UsageError(f"enumerated_shapes[{name!r}]: must be two shapes or more of one rank")
        if not all(type(size) is int and size > 0 for shape in shapes for size in shape):
            raise UsageError(f"enumerated_shapes[{name!r}]: sizes must be whole numbers from 1 on")
    if len({len(shapes) for shapes in given.values()}) > 1:
        raise UsageError("enumerated_shapes: every input must have the same number of shapes")
    if len(given) > 1 and target not in STATE_TARGETS:
        raise UsageError(
            "enumerated_shapes of several inputs needs iOS18; minimum_deployment_target is "
            f"{target}"
        )
