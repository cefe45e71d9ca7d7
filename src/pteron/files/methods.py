"""Methods and delegates of a program file, as a user thinks of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from pteron.dtypes import ScalarType
from pteron.errors import FormatError
from pteron.schema.program import (
    BackendDelegate,
    ExecutionPlan,
    FrameList,
    KernelTypes,
    Tensor,
    TensorShapeDynamism,
)


@dataclass(frozen=True)
class ValueInfo:
    """An input or output of a method.

    Attributes:
        name: the tensor's name in the file, or ``input_0``, ``output_1``.
        index: index into the plan's values.
        value: the value itself.
    """

    name: str
    index: int
    value: KernelTypes | None

    @property
    def kind(self) -> str:
        """Type of the value in the schema's words: ``Tensor``, ``Int``, ``Null``."""
        return type(self.value).__name__ if self.value is not None else "Null"

    @property
    def dtype(self) -> ScalarType | None:
        """Element type, if it is a tensor."""
        return self.value.scalar_type if isinstance(self.value, Tensor) else None

    @property
    def shape(self) -> tuple[int, ...] | None:
        """Shape, or its upper bound where :attr:`dynamism` says so, if it is a tensor."""
        return tuple(self.value.sizes) if isinstance(self.value, Tensor) else None

    @property
    def dim_order(self) -> tuple[int, ...] | None:
        """Dimensions from outermost to innermost, if it is a tensor."""
        return tuple(self.value.dim_order) if isinstance(self.value, Tensor) else None

    @property
    def dynamism(self) -> TensorShapeDynamism | None:
        """Whether the shape may change, if it is a tensor."""
        return self.value.shape_dynamism if isinstance(self.value, Tensor) else None


@dataclass(frozen=True)
class Method:
    """One entry point of a program."""

    plan: ExecutionPlan
    """The method as the file describes it."""

    @property
    def name(self) -> str:
        """Name of the method."""
        return self.plan.name

    @property
    def inputs(self) -> list[ValueInfo]:
        """What the caller gives, in order."""
        return _values(self.plan, self.plan.inputs, "input")

    @property
    def outputs(self) -> list[ValueInfo]:
        """What the caller gets, in order."""
        return _values(self.plan, self.plan.outputs, "output")

    @property
    def source_lines(self) -> list[str]:
        """Line of the model that each instruction comes from, ``""`` where none is stored.

        Empty if the file has no debug frames (program.fbs: Chain.stacktrace).
        """
        traces = [trace for chain in self.plan.chains for trace in chain.stacktrace or ()]
        return [_innermost(trace) for trace in traces]


def _innermost(trace: FrameList) -> str:
    if not trace.items:
        return ""
    frame = trace.items[-1]
    return f"{frame.filename}:{frame.lineno} in {frame.name}: {frame.context}"


def _values(plan: ExecutionPlan, indices: Sequence[int], what: str) -> list[ValueInfo]:
    infos = []
    for position, index in enumerate(indices):
        if not 0 <= index < len(plan.values):
            raise FormatError(
                f"refers to value {index}, but there are {len(plan.values)}",
                where=f"method {plan.name!r} {what} {position}",
            )
        value = plan.values[index].val
        name = _tensor_name(value) or f"{what}_{position}"
        infos.append(ValueInfo(name, index, value))
    return infos


def _tensor_name(value: KernelTypes | None) -> str | None:
    info = value.extra_tensor_info if isinstance(value, Tensor) else None
    return info.fully_qualified_name if info else None


@dataclass(frozen=True)
class Delegate:
    """One call-out of a method to a backend.

    Attributes:
        method: name of the method.
        index: position among the method's delegates.
        table: the delegate as the file describes it.
        payload: what the backend produced, in place.
    """

    method: str
    index: int
    table: BackendDelegate
    payload: memoryview

    @property
    def backend_id(self) -> str:
        """The backend: ``CoreMLBackend``."""
        return self.table.id

    @property
    def compile_specs(self) -> Mapping[str, memoryview]:
        """Options that the backend was given."""
        return {spec.key: memoryview(spec.value) for spec in self.table.compile_specs}
