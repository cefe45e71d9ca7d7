"""From a delegate in a program to something that can be called: payload, engine, cache, session."""

from __future__ import annotations

import logging
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import prod
from pathlib import Path
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

import pteron
from pteron.cache import CacheKey, Loaded, load_through
from pteron.engines import select
from pteron.engines.base import (
    Compilation,
    CompiledModel,
    Documented,
    Engine,
    EngineOptions,
    FunctionInfo,
    Session,
    ValueInfo,
)
from pteron.errors import UnsupportedError
from pteron.files.state_names import declared_state_names, shares_state
from pteron.payloads import open_payload
from pteron.payloads.resident import give_back
from pteron.progress import stage
from pteron.runtime.arrays import Array, convert

if TYPE_CHECKING:
    from pteron.cache import CompiledModelCache
    from pteron.files import Delegate
    from pteron.payloads.base import PayloadSource

logger = logging.getLogger("pteron.runtime")


@dataclass(frozen=True)
class LoadRecord:
    """How one payload became a compiled model: for reports and benchmarks.

    Attributes:
        backend_id: backend of the payload.
        engine: name and version of the engine.
        digest: digest of the payload.
        cache_hit: True (taken from the cache), False (compiled), or None (no cache in use).
        seconds: wall time of look-up, compilation and import together.
    """

    backend_id: str
    engine: str
    digest: str
    cache_hit: bool | None
    seconds: float


class PayloadLoader:
    """Compiles payloads with one engine, one cache and one set of options; each payload once."""

    def __init__(
        self, engine: str | None, cache: CompiledModelCache | None, options: EngineOptions
    ) -> None:
        self._engine = engine
        self._cache = cache
        self._options = options
        self._compiled: dict[str, CompiledModel] = {}
        self._held: list[Loaded[CompiledModel]] = []
        self.records: list[LoadRecord] = []

    def load(self, source: PayloadSource) -> CompiledModel:
        """The compiled model of a payload; compiled at most once per loader."""
        with stage("read payload"):
            digest = source.digest()
        if digest not in self._compiled:
            engine = self.engine_for(source.backend_id)
            started = perf_counter()
            compiled, hit = self._obtain(engine, source, digest)
            seconds = perf_counter() - started
            name = f"{engine.name} {engine.version}"
            self.records.append(LoadRecord(source.backend_id, name, digest, hit, seconds))
            origin = "from the cache" if hit else "compiled"
            logger.info("%s payload, %s, %s: %.2f s", source.backend_id, name, origin, seconds)
            self._compiled[digest] = compiled
        return self._compiled[digest]

    def engine_for(self, backend_id: str) -> Engine:
        """The engine that takes a backend's payloads. Raises UnsupportedError if none does here."""
        return select(backend_id, self._engine)

    def close(self) -> None:
        """Let go of the cache entries."""
        for loaded in self._held:
            loaded.close()
        self._held.clear()
        self._compiled.clear()

    def _obtain(
        self, engine: Engine, source: PayloadSource, digest: str
    ) -> tuple[CompiledModel, bool | None]:
        """The compiled model, and whether the cache had it (None: no cache in use)."""
        options = self._options
        if self._cache is None:
            return engine.compile_in_memory(source, options), None
        loaded = load_through(
            self._cache,
            self._key(engine, digest),
            lambda directory: engine.compile(source, options, directory),
            lambda directory: _load(engine, source, options, directory),
        )
        self._held.append(loaded)
        return loaded.value, loaded.hit

    def _key(self, engine: Engine, digest: str) -> CacheKey:
        return CacheKey(
            payload_digest=digest,
            engine=engine.name,
            engine_version=engine.version,
            device_features=engine.device_features(),
            options={
                "precision": self._options.precision,
                "threads": str(self._options.threads),
                "streams": str(self._options.streams),
                "pteron": pteron.__version__,
            },
        )


@stage("load compiled model")
def _load(
    engine: Engine, source: PayloadSource, options: EngineOptions, directory: Path
) -> CompiledModel:
    give_back(source)  # it was read to be digested, and perhaps compiled
    return engine.load(source, options, directory)


@dataclass(frozen=True)
class PreparedDelegate:
    """A delegate that can be called: its function in a compiled model, and its state's names."""

    compiled: CompiledModel
    function: FunctionInfo
    names: Mapping[str, str]
    """state name in the payload -> name for the user (``named_buffers()`` name)."""
    shares_state: bool = False
    """Whether its states are one value for all such delegates of the same package."""

    @property
    def compilation(self) -> Compilation | None:
        """What the engine did to the function; None where it does not tell."""
        return compilation(self.compiled, self.function.name)

    def call(self, session: Session, args: Sequence[Array], where: str) -> list[Array]:
        """Run the function on as many leading ``args`` as it has inputs."""
        inputs = [
            arg
            if arg.dtype == dtype and arg.shape == info.shape
            else convert(arg, dtype, _shape_for(arg, info.shape), f"{where}: {info.name}")
            for arg, (dtype, info) in zip(args, self._inputs, strict=False)
        ]
        return session.run(self.function.name, inputs)

    @cached_property
    def _inputs(self) -> list[tuple[np.dtype[Any], ValueInfo]]:
        return [(np.dtype(info.dtype), info) for info in self.function.inputs]


def compilation(compiled: CompiledModel, function: str) -> Compilation | None:
    """What an engine did to a function; None where it does not tell."""
    return compiled.compilations[function] if isinstance(compiled, Documented) else None


def _shape_for(array: Array, shape: Sequence[int | None]) -> tuple[int, ...]:
    """The payload's shape where it holds the same number of elements, else the array's own."""
    if array.ndim == len(shape):
        return array.shape
    fixed = tuple(size for size in shape if size is not None)
    fits = len(fixed) == len(shape) and array.size == prod(fixed)
    return fixed if fits else array.shape


def prepare(
    delegate: Delegate, blobs: Mapping[str, memoryview], loader: PayloadLoader
) -> PreparedDelegate:
    """Compile (or find) a delegate's payload, which may refer to named data (``blobs``).

    Raises UnsupportedError when no engine here takes its backend.
    """
    try:
        loader.engine_for(delegate.backend_id)
    except UnsupportedError as error:
        raise UnsupportedError(
            f"{error}; engine 'executorch' runs whole programs for the backends that "
            "ExecuTorch's own runtime has"
        ) from None
    source = open_payload(delegate.backend_id, delegate.payload, blobs, delegate.method)
    compiled = loader.load(source)
    function = _function(compiled, source.function, delegate)
    names = {s.name: s.name for s in function.states} | declared_state_names(delegate)
    return PreparedDelegate(compiled, function, names, shares_state(delegate))


def _function(compiled: CompiledModel, name: str | None, delegate: Delegate) -> FunctionInfo:
    if name is None:
        return next(iter(compiled.functions.values()))
    if name not in compiled.functions:
        raise UnsupportedError(
            f"delegate {delegate.index} of method '{delegate.method}' calls function '{name}', "
            f"its payload has: {', '.join(compiled.functions)}"
        )
    return compiled.functions[name]
