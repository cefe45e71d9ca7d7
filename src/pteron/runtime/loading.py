"""``pteron.load``: from a file to a module that can be called."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from pathlib import Path

from pteron.cache import CompiledModelCache, default_cache
from pteron.engines.base import EngineOptions
from pteron.errors import UnsupportedError, UsageError
from pteron.files import BundledFile, PTDFile, PTEFile
from pteron.files import open as open_file
from pteron.files.parts import named_views
from pteron.payloads.coreml.directories import is_package
from pteron.payloads.coreml.package import directory_source
from pteron.runtime import executorch_streams
from pteron.runtime.delegates import PayloadLoader
from pteron.runtime.module import Module
from pteron.runtime.package_streams import PackageStreams
from pteron.runtime.program_streams import ProgramStreams
from pteron.runtime.timeline import Timeline

PRECISIONS = ("model", "f32", "fast")


class _Default(Enum):
    CACHE = "the process-wide default cache"


def load(
    source: str | Path | PTEFile | BundledFile,
    *,
    data: str | Path | PTDFile | Sequence[str | Path | PTDFile] = (),
    engine: str | None = None,
    cache: CompiledModelCache | _Default | None = _Default.CACHE,
    precision: str = "model",
    threads: int | None = None,
    streams: int = 1,
    timeline: Timeline | None = None,
) -> Module:
    """Make a program ready to run on this machine.

    Args:
        source: a ``.pte`` or ``.bpte`` file, an open PTEFile or BundledFile, or a Core ML
            ``.mlpackage`` or ``.mlmodelc`` directory.
        data: ``.ptd`` files with data that the program expects outside of itself.
        engine: ``openvino`` or ``coreml``, by default the one for this machine; or
            ``executorch``, which runs the whole program on ExecuTorch's own runtime (it has no
            use for ``cache``, ``precision``, ``threads`` and ``streams``). ``coreml`` leaves
            precision, threads and streams to Core ML.
        cache: where compiled models are kept; by default :func:`pteron.cache.default_cache`,
            None compiles anew.
        precision: ``model`` never computes below a value's own dtype, ``f32`` computes everything
            in fp32, ``fast`` may use bf16.
        threads: threads an execution may use; None leaves it to the engine.
        streams: how many calls, of this module and its forks from threads of their own, may
            compute at a time in a delegate, each with as many threads; others wait. Weights are
            there once. It makes a call that takes well under a millisecond slower.
        timeline: collects the time of every instruction of every call, and of the operations
            inside of delegates; nothing from the engine ``executorch``.

    Raises:
        FileAccessError, FormatError: the file cannot be read, or is not what it says.
        UnsupportedError: a delegate's backend, or an undelegated operator, cannot run here.
        EngineError: a payload cannot be compiled; it names op and function.
        UsageError: a wrong argument.
    """
    if precision not in PRECISIONS:
        raise UsageError(f"precision is one of {', '.join(PRECISIONS)}, not {precision!r}")
    if threads is not None and (type(threads) is not int or threads < 1):
        raise UsageError(f"threads is a whole number from 1 on, not {threads!r}")
    if type(streams) is not int or streams < 1:
        raise UsageError(f"streams is a whole number from 1 on, not {streams!r}")
    if not (cache is None or cache is _Default.CACHE or isinstance(cache, CompiledModelCache)):
        raise UsageError(f"cache is a cache of compiled models or None, not {cache!r}")
    if isinstance(data, (str, Path, PTDFile)):
        data = [data]
    store = default_cache() if cache is _Default.CACHE else cache
    options = EngineOptions(precision, threads, streams, profile=timeline is not None)
    loader = PayloadLoader(engine, store, options)
    if isinstance(source, (str, Path)) and is_package(Path(source)):
        if engine == executorch_streams.NAME:
            raise UnsupportedError(
                f"{source}: engine 'executorch' runs programs (.pte), not Core ML models by "
                "themselves; use engine 'openvino' or 'coreml'"
            )
        return PackageStreams(directory_source(Path(source)), loader, timeline).new_stream()
    program, close = _open(source)
    if engine == executorch_streams.NAME:
        paths = [Path(item) for item in data if not isinstance(item, PTDFile)]
        if len(paths) != len(data):
            raise UsageError("the engine 'executorch' takes .ptd files by their paths")
        return executorch_streams.ExecutorchStreams(program, paths, close).new_stream()
    return ProgramStreams(program, external(data), loader, close, timeline).new_stream()


def _open(source: str | Path | PTEFile | BundledFile) -> tuple[PTEFile, Callable[[], None]]:
    """The program in ``source``, and what closes it if it was opened here."""
    opened = open_file(source) if isinstance(source, (str, Path)) else source
    program = opened.pte if isinstance(opened, BundledFile) else opened
    if isinstance(program, PTDFile):
        name = program.path or "this file"
        raise UnsupportedError(f"{name} holds data only; load the program that uses it")
    if not isinstance(program, PTEFile):
        raise UsageError(f"expected a path or an open program, not {type(source).__name__}")
    return program, (opened.close if opened is not source else _keep_open)


def external(
    data: str | Path | PTDFile | Sequence[str | Path | PTDFile],
) -> dict[str, memoryview]:
    """Blobs by key of every data file, in order; a later file wins."""
    if isinstance(data, (str, Path, PTDFile)):
        data = [data]
    blobs: dict[str, memoryview] = {}
    for item in data:
        file = open_file(item) if isinstance(item, (str, Path)) else item
        if not isinstance(file, PTDFile):
            raise UsageError(f"{item} is no data file (.ptd)")
        blobs |= named_views(file.named_data)
    return blobs


def _keep_open() -> None:
    """The caller opened the file, the caller closes it."""
