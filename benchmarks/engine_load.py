"""Cold load, load through a cache hit, and OpenVINO's own cache, of one transformer.

    python -m benchmarks.engine_load [--layers 30] [--width 576]

Weights are random; the shape is that of a small language model. Prints seconds and ratios.
"""

from __future__ import annotations

import argparse
import gc
import tempfile
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import coremltools as ct
import numpy as np
import torch
from torch import nn

from pteron.engines.base import EngineOptions
from pteron.engines.openvino import OpenVINOEngine
from pteron.engines.openvino._import import ov
from pteron.engines.openvino.build import build
from pteron.engines.openvino.precision import compile_properties, weight_bytes
from pteron.payloads.coreml.package import CoreMLPackage, directory_source


class Block(nn.Module):
    def __init__(self, width: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.RMSNorm(width), nn.RMSNorm(width)
        self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)
        self.up, self.gate = nn.Linear(width, 4 * width), nn.Linear(width, 4 * width)
        self.down = nn.Linear(4 * width, width)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        q, k, v = self.qkv(self.norm1(x)).chunk(3, -1)
        x = x + self.out(nn.functional.scaled_dot_product_attention(q, k, v))
        y = self.norm2(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


def package(layers: int, width: int) -> Any:
    model = nn.Sequential(*[Block(width) for _ in range(layers)]).eval()
    program = torch.export.export(model, (torch.randn(1, 8, width),)).run_decompositions()
    made = ct.convert(program, minimum_deployment_target=ct.target.iOS18, skip_model_load=True)
    directory = Path(tempfile.mkdtemp(suffix=".mlpackage"))
    made.save(str(directory))
    return directory_source(directory)


def seconds(function: Callable[[], Any], rounds: int) -> float:
    """The best of some rounds."""
    times = []
    for _ in range(rounds):
        gc.collect()
        start = perf_counter()
        kept = function()
        times.append(perf_counter() - start)
        del kept
    return min(times)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--layers", type=int, default=30)
    parser.add_argument("--width", type=int, default=512)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    source, engine = package(options.layers, options.width), OpenVINOEngine()
    size, asked = weight_bytes(source), EngineOptions()
    cold = seconds(lambda: engine.compile_in_memory(source, asked), options.rounds)
    directory = Path(tempfile.mkdtemp())
    engine.compile(source, asked, directory)
    x = np.random.default_rng(0).standard_normal((1, 8, options.width)).astype(np.float32)
    fresh = engine.compile_in_memory(source, asked).new_session().run("main", [x])
    kept = engine.load(source, asked, directory).new_session().run("main", [x])
    np.testing.assert_array_equal(fresh[0], kept[0])
    hit = seconds(lambda: engine.load(source, asked, directory), options.rounds)
    own = _own_cache(source, asked, size, options.rounds)
    print(f"payload {size / 1e6:.0f} MB, {options.layers} layers of {options.width}")
    print(f"cold                 {cold:8.3f} s")
    print(f"hit                  {hit:8.3f} s   cold / hit = {cold / hit:.1f}")
    print(f"OpenVINO's own cache {own:8.3f} s   hit / own  = {hit / own:.2f}")


def _own_cache(source: Any, asked: EngineOptions, size: int, rounds: int) -> float:
    """A hit in OpenVINO's CACHE_DIR, given the model already built."""
    package = CoreMLPackage(source)
    model = build(package, "main").model
    properties = compile_properties(asked, [package.program.functions["main"]], size)
    core = ov.Core()
    core.set_property({"CACHE_DIR": tempfile.mkdtemp()})
    core.compile_model(model, "CPU", properties)
    return seconds(lambda: core.compile_model(model, "CPU", properties), rounds)


if __name__ == "__main__":
    main()
