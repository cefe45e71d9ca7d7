"""From a delegate in a program to something that can be called: payload, engine, cache, session."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

import pteron
from pteron.cache import CacheKey, Loaded, load_through
from pteron.engines import select
from pteron.engines.base import CompiledModel, EngineOptions, FunctionInfo, Session
from pteron.errors import FormatError, UnsupportedError
from pteron.payloads import open_payload
from pteron.runtime.arrays import Array, convert

if TYPE_CHECKING:
    from pteron.cache import CompiledModelCache
    from pteron.files import Delegate
    from pteron.payloads.base import PayloadSource

STATES_KEY = "pteron.states"


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
        self._loaded: dict[str, Loaded[CompiledModel]] = {}
        self.records: list[LoadRecord] = []

    def load(self, source: PayloadSource) -> CompiledModel:
        """The compiled model of a payload; compiled at most once per loader."""
        digest = source.digest()
        if digest not in self._loaded:
            self._loaded[digest] = self._compile(source, digest)
        return self._loaded[digest].value

    def close(self) -> None:
        """Let go of the cache entries."""
        for loaded in self._loaded.values():
            loaded.close()
        self._loaded.clear()

    def _compile(self, source: PayloadSource, digest: str) -> Loaded[CompiledModel]:
        engine, options = select(source.backend_id, self._engine), self._options
        started = perf_counter()
        if self._cache is None:
            loaded = Loaded(engine.compile_in_memory(source, options), hit=False)
        else:
            key = CacheKey(
                payload_digest=digest,
                engine=engine.name,
                engine_version=engine.version,
                device_features=engine.device_features(),
                options={
                    "precision": options.precision,
                    "threads": str(options.threads),
                    "pteron": pteron.__version__,
                },
            )
            loaded = load_through(
                self._cache,
                key,
                lambda directory: engine.compile(source, options, directory),
                lambda directory: engine.load(source, options, directory),
            )
        self.records.append(
            LoadRecord(
                backend_id=source.backend_id,
                engine=f"{engine.name} {engine.version}",
                digest=digest,
                cache_hit=None if self._cache is None else loaded.hit,
                seconds=perf_counter() - started,
            )
        )
        return loaded


@dataclass(frozen=True)
class PreparedDelegate:
    """A delegate that can be called: its function in a compiled model, and its state's names."""

    compiled: CompiledModel
    function: FunctionInfo
    names: Mapping[str, str]
    """state name in the payload -> name for the user (``named_buffers()`` name)."""

    def call(self, session: Session, args: Sequence[Array], where: str) -> list[Array]:
        """Run the function on as many leading ``args`` as it has inputs."""
        infos = self.function.inputs
        inputs = [
            convert(arg, np.dtype(info.dtype), _shape_for(arg, info.shape), f"{where}: {info.name}")
            for arg, info in zip(args, infos, strict=False)
        ]
        return session.run(self.function.name, inputs)


def _shape_for(array: Array, shape: Sequence[int | None]) -> tuple[int, ...]:
    """The payload's shape where it holds the same number of elements, else the array's own."""
    if array.ndim == len(shape):
        return array.shape
    if all(size is not None for size in shape) and array.size == np.prod(shape, dtype=np.int64):
        return tuple(size or 0 for size in shape)
    return array.shape


def prepare(
    delegate: Delegate, blobs: Mapping[str, memoryview], loader: PayloadLoader
) -> PreparedDelegate:
    """Compile (or find) a delegate's payload, which may refer to named data (``blobs``).

    Raises UnsupportedError when no engine here takes its backend.
    """
    source = open_payload(delegate.backend_id, delegate.payload, blobs, delegate.method)
    compiled = loader.load(source)
    function = _function(compiled, source.function, delegate)
    names = {s.name: s.name for s in function.states} | dict(_declared_names(delegate))
    return PreparedDelegate(compiled, function, names)


def _function(compiled: CompiledModel, name: str | None, delegate: Delegate) -> FunctionInfo:
    if name is None:
        return next(iter(compiled.functions.values()))
    if name not in compiled.functions:
        raise UnsupportedError(
            f"delegate {delegate.index} of method '{delegate.method}' calls function '{name}', "
            f"its payload has: {', '.join(compiled.functions)}"
        )
    return compiled.functions[name]


def _declared_names(delegate: Delegate) -> Iterator[tuple[str, str]]:
    """Names that lowering wrote in the delegate's compile spec, as (payload name, user's name)."""
    spec: Any = delegate.compile_specs.get(STATES_KEY)
    if spec is None:
        return
    try:
        for record in json.loads(bytes(spec).decode("utf-8")):
            yield str(record["payload_name"]), str(record["name"])
    except (ValueError, KeyError, TypeError) as error:
        where = f"method '{delegate.method}', delegate {delegate.index}: compile spec {STATES_KEY}"
        raise FormatError(f"is not the list of states it should be: {error}", where=where) from None
