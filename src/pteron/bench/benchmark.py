"""One benchmark, from load to result."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from pteron.bench.bandwidth import read_bandwidth
from pteron.bench.costs import instruction_costs
from pteron.bench.inputs import random_inputs
from pteron.bench.latency import measure_latency
from pteron.bench.memory import Growth, peak_growth
from pteron.bench.result import Latency, LoadCost, MemoryLimit, Result, Throughput
from pteron.bench.sizes import constant_bytes, payload_bytes
from pteron.bench.throughput import call_at_once
from pteron.cache import DirectoryCache
from pteron.engines.base import Compilation
from pteron.files.array_files import read_arrays
from pteron.runtime import load
from pteron.runtime.module import Module
from pteron.runtime.named_inputs import named_inputs
from pteron.runtime.timeline import Span, Timeline

PROFILED_CALLS = 20
"""Calls at most whose inside is timed, apart from those whose latency is."""


@dataclass(frozen=True)
class Options:
    """What to measure, and how.

    Attributes:
        method: the method; by default the module's default.
        inputs: a file of arrays by name (.npz, .safetensors, .npy); None: made up.
        warmup: calls before measuring.
        repeat: calls measured.
        data, engine, precision, threads, streams: as in :func:`pteron.load`. With more than one
            stream, as many forks are called at once too.
    """

    method: str | None = None
    inputs: Path | None = None
    warmup: int = 5
    repeat: int = 50
    data: tuple[Path, ...] = ()
    engine: str | None = None
    precision: str = "model"
    threads: int | None = None
    streams: int = 1


def benchmark(path: str | Path, options: Options) -> tuple[Result, list[Span]]:
    """Measure one method of a ``.pte``, ``.bpte``, ``.mlpackage`` or ``.mlmodelc``.

    The program is compiled into an empty cache that is thrown away, loaded again from it, called
    ``warmup`` and then ``repeat`` times, and, loaded once more to be profiled, called a few times
    more. State goes on from call to call. Returns what was found, and the spans of the profiled
    calls. Raises what :func:`pteron.load` raises, and UsageError for inputs that do not fit.
    """
    path = Path(path)
    with TemporaryDirectory(prefix="pteron-bench-") as directory:
        cache = DirectoryCache(Path(directory))
        with peak_growth() as growth:
            cold = _load(path, options, cache)
        cold.close()
        with _load(path, options, cache) as module:
            inputs = _inputs(module, options)
            method = module.method(options.method)
            latency = measure_latency(method, inputs, options.warmup, options.repeat)
            throughput = _throughput(module, method.name, inputs, options, latency)
        timeline = Timeline()
        with _load(path, options, cache, timeline) as profiled:
            _profile(profiled, options, inputs, timeline)
    bandwidth = read_bandwidth(options.threads)
    result = Result(
        file=str(path),
        method=method.name,
        engine=_engine(module, options),
        precision=options.precision,
        threads=options.threads,
        warmup=options.warmup,
        repeat=options.repeat,
        load=_load_cost(path, cold, module, growth),
        latency=latency,
        throughput=throughput,
        limit=_limit(_weight_bytes(path, method.name, module), bandwidth, latency),
        state_bytes=sum(entry.read().nbytes for entry in module.state.values()),
        state_bytes_copied=_copied(module, method.name),
        rewrites=_rewrites(module, method.name),
        instructions=instruction_costs(timeline.spans),
    )
    return result, timeline.spans


def _load(
    path: Path, options: Options, cache: DirectoryCache, timeline: Timeline | None = None
) -> Module:
    return load(
        path,
        data=options.data,
        engine=options.engine,
        cache=cache,
        precision=options.precision,
        threads=options.threads,
        streams=options.streams,
        timeline=timeline,
    )


def _inputs(module: Module, options: Options) -> Mapping[str, Any]:
    method = module.method(options.method)
    if options.inputs is None:
        return random_inputs(method)
    return named_inputs(read_arrays(options.inputs), method.inputs, str(options.inputs))


def _profile(
    module: Module, options: Options, inputs: Mapping[str, Any], timeline: Timeline
) -> None:
    method = module.method(options.method)
    for _ in range(min(options.warmup, PROFILED_CALLS)):
        method(**inputs)
    timeline.spans.clear()
    for _ in range(min(options.repeat, PROFILED_CALLS)):
        method(**inputs)


def _throughput(
    module: Module, method: str, inputs: Mapping[str, Any], options: Options, latency: Latency
) -> Throughput:
    if options.streams == 1:
        return Throughput(1, 1 / latency.mean)
    streams = options.streams
    speed, _ = call_at_once(module, method, inputs, streams, options.warmup, options.repeat)
    return Throughput(streams, speed)


def _engine(module: Module, options: Options) -> str:
    names = dict.fromkeys(record.engine for record in module.load_records)
    return ", ".join(names) or options.engine or "portable kernels"


def _load_cost(path: Path, cold: Module, hit: Module, growth: Growth) -> LoadCost:
    return LoadCost(_seconds(cold), _seconds(hit), payload_bytes(path), growth.bytes)


def _seconds(module: Module) -> float | None:
    return sum(record.seconds for record in module.load_records) if module.load_records else None


def _limit(weight_bytes: int, bandwidth: float, latency: Latency) -> MemoryLimit:
    most = bandwidth / weight_bytes if weight_bytes else None
    return MemoryLimit(
        weight_bytes, bandwidth, most, None if most is None else 1 / latency.mean / most
    )


def _compilations(module: Module, method: str) -> tuple[Compilation, ...]:
    return module.methods[method].compilations


def _weight_bytes(path: Path, method: str, module: Module) -> int:
    inside = sum(told.weight_bytes for told in _compilations(module, method))
    return inside + constant_bytes(path, method)


def _copied(module: Module, method: str) -> int | None:
    told = _compilations(module, method)
    return sum(one.state_bytes_copied for one in told) if told else None


def _rewrites(module: Module, method: str) -> dict[str, int]:
    total: dict[str, int] = {}
    for told in _compilations(module, method):
        for name, count in told.rewrites.items():
            total[name] = total.get(name, 0) + count
    return total
