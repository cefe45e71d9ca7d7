"""Loading a compiled model through a cache hit, beside a cold load and OpenVINO's own cache.

Run: ``python -m benchmarks.cache_load [FILE.pte ...]``; without files a 30-layer decoder of about
200 MB is lowered once and kept in ``build/benchmarks``. All in one process, imports done, taken in
turn; medians are printed. A cold load translates, compiles, stores and imports; a hit digests the
payload, looks up and imports; OpenVINO's hit reads the translated model from its own files with
``CACHE_DIR`` set.
"""

from __future__ import annotations

import argparse
import statistics
import tempfile
from pathlib import Path
from time import perf_counter

import pteron
from pteron.cache import CacheKey, DirectoryCache, load_through
from pteron.engines import select
from pteron.engines.base import EngineOptions
from pteron.engines.openvino._import import ov
from pteron.engines.openvino.build import build
from pteron.engines.openvino.precision import compile_properties, weight_bytes
from pteron.payloads import open_payload
from pteron.payloads.base import PayloadSource
from pteron.payloads.coreml.package import CoreMLPackage

DECODER = Path("build/benchmarks/decoder.pte")
OPTIONS = EngineOptions()


def decoder() -> Path:
    """The 30-layer decoder, lowered on first use."""
    if not DECODER.exists():
        import torch

        from benchmarks.lowering_decoder import WIDTH, Decoder

        model = Decoder(30).eval().requires_grad_(False)
        inputs = (torch.randn(1, 1, WIDTH), torch.tensor([0]))
        DECODER.parent.mkdir(parents=True, exist_ok=True)
        pteron.lower(model, inputs).save(DECODER)
    return DECODER


def payload(path: Path) -> PayloadSource:
    """The first delegate's payload, opened anew, so that nothing of it is remembered."""
    file = pteron.open(path)
    delegate = file.delegates[0]
    data = {key: blob.data for key, blob in file.named_data.items()}
    return open_payload(delegate.backend_id, delegate.payload, data, delegate.method)


def through(cache: DirectoryCache, path: Path) -> float:
    """Seconds of one load through a cache, the digest of the payload included."""
    source = payload(path)
    engine = select(source.backend_id, "openvino")
    started = perf_counter()
    key = CacheKey(source.digest(), engine.name, engine.version, engine.device_features())
    loaded = load_through(
        cache,
        key,
        lambda directory: engine.compile(source, OPTIONS, directory),
        lambda directory: engine.load(source, OPTIONS, directory),
    )
    seconds = perf_counter() - started
    loaded.close()
    return seconds


def openvinos_own(model: Path, properties: dict[str, object]) -> float:
    """Seconds of one load of the translated model with ``CACHE_DIR`` set."""
    core = ov.Core()
    started = perf_counter()
    core.compile_model(str(model), "CPU", properties)
    return perf_counter() - started


def translate(path: Path, directory: Path) -> tuple[Path, dict[str, object]]:
    """The payload's model as OpenVINO's own files, and the properties pteron compiles it with."""
    source = payload(path)
    package = CoreMLPackage(source)
    name = next(iter(package.program.functions))
    ov.save_model(build(package, name).model, directory / "model.xml", compress_to_fp16=False)
    properties = dict(
        compile_properties(OPTIONS, [package.program.functions[name]], weight_bytes(source))
    )
    return directory / "model.xml", {**properties, "CACHE_DIR": str(directory / "cache")}


def measure(path: Path, runs: int, directory: Path) -> None:
    """Take all three in turn, and print medians and ratios."""
    cache = DirectoryCache(directory / "pteron")
    model, properties = translate(path, directory)
    openvinos_own(model, properties)
    times: dict[str, list[float]] = {"cold": [], "hit": [], "OpenVINO hit": []}
    for _ in range(runs):
        cache.purge()
        times["cold"].append(through(cache, path))
        times["hit"].append(through(cache, path))
        times["OpenVINO hit"].append(openvinos_own(model, properties))
    median = {name: statistics.median(values) for name, values in times.items()}
    print(f"{path.name}, {path.stat().st_size / 1e6:.1f} MB, {runs} runs")
    for name, seconds in median.items():
        print(f"{name:16} {1000 * seconds:9.1f} ms")
    print(f"cold / hit          {median['cold'] / median['hit']:6.2f}")
    print(f"hit / OpenVINO's    {median['hit'] / median['OpenVINO hit']:6.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--runs", type=int, default=5)
    arguments = parser.parse_args()
    for path in arguments.files or [decoder()]:
        with tempfile.TemporaryDirectory() as directory:
            measure(path, arguments.runs, Path(directory))


if __name__ == "__main__":
    main()
