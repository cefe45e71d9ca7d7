"""What an engine is: it compiles a payload on this machine and executes the product.

An engine never opens program files and never chooses a cache. The runtime hands it payload bytes,
and puts the two steps :meth:`Engine.compile` and :meth:`Engine.load` around whatever cache the
user chose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Protocol, runtime_checkable

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pteron.payloads.base import PayloadSource


@dataclass(frozen=True)
class EngineOptions:
    """Choices that change what an engine produces or how it runs.

    Attributes:
        precision: ``"model"`` never computes below a value's own dtype, ``"f32"`` computes
            everything in fp32, ``"fast"`` may use bf16.
        threads: threads an execution may use; ``None`` leaves it to the engine.
        streams: executions of different sessions that may run at a time, each with as many
            threads; further ones wait.
        profile: take the time of every operation, for :class:`Profiled` sessions. What is compiled
            is the same, so this is no part of a cache key.
    """

    precision: str = "model"
    threads: int | None = None
    streams: int = 1
    profile: bool = False


@dataclass(frozen=True)
class Default:
    """Value of an input that is left out: one number everywhere, and the shape to fill."""

    number: float
    shape: tuple[int, ...]


@dataclass(frozen=True)
class ValueInfo:
    """One input, output or state of a compiled function.

    Attributes:
        name: its name in the payload.
        dtype: NumPy dtype name (``float16``).
        shape: one number per axis, or ``None`` where the axis is flexible.
        range: per axis (lowest, highest) size, highest ``-1`` where unbounded; empty if static.
        shapes: the only shapes it may have, where the payload lists them; else empty.
        default: what an input that may be left out is then, or ``None`` for one that may not.
        image: colour space of an image (``RGB``, ``BGR``, ``GRAYSCALE``, ``GRAYSCALE_FLOAT16``),
            or ``""`` for a plain array.
    """

    name: str
    dtype: str
    shape: tuple[int | None, ...]
    range: tuple[tuple[int, int], ...] = ()
    shapes: tuple[tuple[int, ...], ...] = ()
    default: Default | None = None
    image: str = ""

    def accepts(self, shape: tuple[int, ...]) -> bool:
        """Whether an array of this shape fits."""
        if self.shapes:
            return shape in self.shapes
        if shape == self.shape:
            return True
        bounds = self.range or tuple((n or 0, -1 if n is None else n) for n in self.shape)
        return len(shape) == len(bounds) and all(
            low <= size and (high < 0 or size <= high)
            for size, (low, high) in zip(shape, bounds, strict=True)
        )

    def __str__(self) -> str:
        """The type as a person writes it: ``float16[1, 2..8, ?]``, ``float16[1, 2] or [1, 4]``.

        Of an image, with its colour space: ``RGB image float32[1, 3, 8, 8]``.
        """
        kind = f"{self.image} image {self.dtype}" if self.image else self.dtype
        if self.shapes:
            return f"{kind}{' or '.join(str(list(shape)) for shape in self.shapes)}"
        sizes = [
            str(size) if size is not None else _range_text(self.range[axis : axis + 1])
            for axis, size in enumerate(self.shape)
        ]
        return f"{kind}[{', '.join(sizes)}]"


def _range_text(bounds: Sequence[tuple[int, int]]) -> str:
    if not bounds:
        return "?"
    low, high = bounds[0]
    return f"{low}..{'' if high < 0 else high}"


@dataclass(frozen=True)
class FunctionInfo:
    """Signature of one function of a payload, in the payload's own order."""

    name: str
    inputs: tuple[ValueInfo, ...]
    outputs: tuple[ValueInfo, ...]
    states: tuple[ValueInfo, ...] = field(default=())


class Session(Protocol):
    """One independent execution stream over a compiled model: it owns its state's values.

    A session serves one thread at a time.
    """

    def run(
        self, function: str, inputs: Sequence[NDArray[np.generic]]
    ) -> list[NDArray[np.generic]]:
        """Execute a function; inputs and outputs by position, in :class:`FunctionInfo` order.

        Raises :class:`pteron.errors.UsageError` for a wrong count, dtype or shape, and
        :class:`pteron.errors.EngineError` when execution fails. The arrays returned belong to
        the caller (they are not overwritten by a later call).
        """
        ...

    def read_state(self, name: str) -> NDArray[np.generic]:
        """A copy of a state's value."""
        ...

    def write_state(self, name: str, value: NDArray[np.generic]) -> None:
        """Set a state's value. Raises StateError unless dtype and shape fit exactly."""
        ...

    def reset_state(self, name: str) -> None:
        """Set a state back to its first value (Core ML: zeros)."""
        ...


@dataclass(frozen=True)
class OpTime:
    """Time that one operation of a compiled model took in the last call.

    Attributes:
        name: the engine's name for it.
        type: the engine's type (``FullyConnected``).
        kernel: which implementation ran (``brgemm_avx512_amx_bf16``).
        ops: outputs of the payload's operations that it computes; empty for one that the engine
            put in by itself.
        seconds: wall time.
    """

    name: str
    type: str
    kernel: str
    ops: tuple[str, ...]
    seconds: float


@runtime_checkable
class Profiled(Protocol):
    """A session that can tell, where its model was made with ``profile``, where time went."""

    def op_times(self, function: str) -> list[OpTime]:
        """Times of the last call of a function, in order of execution; empty without profile."""
        ...


@dataclass(frozen=True)
class Compilation:
    """What an engine did to a function beyond translating it.

    Attributes:
        rewrites: how often each named rewrite was applied.
        state_bytes_copied: bytes of states that every call writes anew, beside what it changes.
        weight_bytes: bytes of stored weights that every call reads whole.
    """

    rewrites: Mapping[str, int] = field(default_factory=dict)
    state_bytes_copied: int = 0
    weight_bytes: int = 0


@runtime_checkable
class Documented(Protocol):
    """A compiled model that tells what the engine did to its functions."""

    @property
    def compilations(self) -> Mapping[str, Compilation]:
        """By function."""
        ...


class CompiledModel(Protocol):
    """A payload made ready on this machine. Shared by every session made of it."""

    @property
    def functions(self) -> Mapping[str, FunctionInfo]:
        """Functions by name, the default one first."""
        ...

    def new_session(self) -> Session:
        """A new stream; states start at their first values."""
        ...


class Engine(Protocol):
    """Compiles payloads of some backends and executes them on this machine."""

    name: str
    """Short name: ``openvino``, ``coreml``."""

    backends: frozenset[str]
    """Backend ids whose payloads it takes (``CoreMLBackend``)."""

    @property
    def version(self) -> str:
        """Version of the underlying engine; part of the cache key."""
        ...

    def device_features(self) -> Mapping[str, str]:
        """What of this device changes the compiled model; part of the cache key."""
        ...

    def compile(self, source: PayloadSource, options: EngineOptions, directory: Path) -> None:
        """Compile the payload and leave the product, as files, in an existing empty directory."""
        ...

    def load(self, source: PayloadSource, options: EngineOptions, directory: Path) -> CompiledModel:
        """Make ready what :meth:`compile` left. Raises EngineError when it cannot be loaded."""
        ...

    def compile_in_memory(self, source: PayloadSource, options: EngineOptions) -> CompiledModel:
        """Compile without leaving files, for loads without a cache."""
        ...
