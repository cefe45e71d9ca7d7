"""Lowering a 30-layer decoder: pteron beside ExecuTorch, with and without a backend.

    python benchmarks/lowering_decoder.py [--layers 30] [--backend coreml|none]

Each side runs in a process of its own; reported are wall-clock seconds of the lowering alone
(imports done, model built) and the peak resident memory of the process.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import time
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

WIDTH, HEADS, KEY_HEADS, HIDDEN, CACHE = 576, 9, 3, 1536, 256


class Layer(nn.Module):
    """Attention with a key-value cache, and a gated MLP (the shapes of SmolLM2-135M)."""

    def __init__(self) -> None:
        super().__init__()
        size = WIDTH // HEADS
        self.norm1, self.norm2 = (nn.RMSNorm(WIDTH, eps=1e-5) for _ in range(2))
        self.q = nn.Linear(WIDTH, WIDTH, bias=False)
        self.k = nn.Linear(WIDTH, KEY_HEADS * size, bias=False)
        self.v = nn.Linear(WIDTH, KEY_HEADS * size, bias=False)
        self.o = nn.Linear(WIDTH, WIDTH, bias=False)
        self.up = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.gate = nn.Linear(WIDTH, HIDDEN, bias=False)
        self.down = nn.Linear(HIDDEN, WIDTH, bias=False)
        self.register_buffer("k_cache", torch.zeros(1, KEY_HEADS, CACHE, size))
        self.register_buffer("v_cache", torch.zeros(1, KEY_HEADS, CACHE, size))

    def forward(self, x: Tensor, position: Tensor, mask: Tensor) -> Tensor:
        size = WIDTH // HEADS
        y = self.norm1(x)
        q = self.q(y).view(1, 1, HEADS, size).transpose(1, 2)
        k = self.k(y).view(1, 1, KEY_HEADS, size).transpose(1, 2)
        v = self.v(y).view(1, 1, KEY_HEADS, size).transpose(1, 2)
        self.k_cache.index_copy_(2, position, k)
        self.v_cache.index_copy_(2, position, v)
        keys = self.k_cache.repeat_interleave(HEADS // KEY_HEADS, dim=1)
        values = self.v_cache.repeat_interleave(HEADS // KEY_HEADS, dim=1)
        y = F.scaled_dot_product_attention(q, keys, values, attn_mask=mask)
        x = x + self.o(y.transpose(1, 2).reshape(1, 1, WIDTH))
        y = self.norm2(x)
        return x + self.down(F.silu(self.gate(y)) * self.up(y))


class Decoder(nn.Module):
    """One token in, its hidden state out."""

    def __init__(self, layers: int) -> None:
        super().__init__()
        self.layers = nn.ModuleList(Layer() for _ in range(layers))

    def forward(self, x: Tensor, position: Tensor) -> Tensor:
        mask = (torch.arange(CACHE) <= position).view(1, 1, 1, CACHE)
        for layer in self.layers:
            x = layer(x, position, mask)
        return x


def with_pteron(model: nn.Module, inputs: tuple[Any, ...], backend: str) -> int:
    from pteron.lowering import CoreML, lower

    return len(lower(model, inputs, backend=CoreML() if backend == "coreml" else None).to_bytes())


def with_executorch(model: nn.Module, inputs: tuple[Any, ...], backend: str) -> int:
    from executorch.exir import to_edge_transform_and_lower

    partitioners = []
    if backend == "coreml":
        import coremltools as ct
        from executorch.backends.apple.coreml.compiler import CoreMLBackend
        from executorch.backends.apple.coreml.partition import CoreMLPartitioner

        specs = CoreMLBackend.generate_compile_specs(minimum_deployment_target=ct.target.iOS18)
        partitioners = [CoreMLPartitioner(compile_specs=specs)]
    exported = torch.export.export(model, inputs)
    program = to_edge_transform_and_lower(exported, partitioner=partitioners).to_executorch()
    return len(program.buffer)


SIDES = {"pteron": with_pteron, "executorch": with_executorch}


def measure(side: str, layers: int, backend: str) -> None:
    """Lower once in this process and print the figures as JSON."""
    import coremltools  # noqa: F401
    import executorch.exir  # noqa: F401

    import pteron.lowering.pipeline  # noqa: F401

    model = Decoder(layers).eval().requires_grad_(False)
    inputs = (torch.randn(1, 1, WIDTH), torch.tensor([0]))
    started = time.perf_counter()
    size = SIDES[side](model, inputs, backend)
    seconds = time.perf_counter() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"side": side, "seconds": seconds, "peak_bytes": peak, "file_bytes": size}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layers", type=int, default=30)
    parser.add_argument("--backend", choices=["coreml", "none"], default="coreml")
    parser.add_argument("--side", choices=sorted(SIDES), help="measure this side only, here")
    options = parser.parse_args()
    if options.side:
        measure(options.side, options.layers, options.backend)
        return
    figures = {}
    for side in ("pteron", "executorch"):
        command = [sys.executable, __file__, "--side", side]
        command += ["--layers", str(options.layers), "--backend", options.backend]
        answer = subprocess.run(command, check=True, capture_output=True, text=True).stdout
        figures[side] = json.loads(answer.splitlines()[-1])
        print(figures[side])
    ours, theirs = figures["pteron"], figures["executorch"]
    for key in ("seconds", "peak_bytes", "file_bytes"):
        print(f"{key}: pteron / executorch = {ours[key] / theirs[key]:.2f}")


if __name__ == "__main__":
    main()
