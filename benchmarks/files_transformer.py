"""The program that the file benchmarks read: 30 undelegated transformer layers, about 540 MB.

Made once by ExecuTorch itself and kept in ``build/benchmarks``.
"""

from __future__ import annotations

from pathlib import Path

import torch
from torch import nn

PATH = Path("build/benchmarks/transformer.pte")


class Layer(nn.Module):
    """Attention with normalised, rotated queries and keys, and a gated MLP."""

    def __init__(self, width: int, heads: int) -> None:
        super().__init__()
        self.heads, head = heads, width // heads
        self.before, self.between = nn.RMSNorm(width), nn.RMSNorm(width)
        self.query_norm, self.key_norm = nn.RMSNorm(head), nn.RMSNorm(head)
        self.query, self.key, self.value, self.out = (nn.Linear(width, width) for _ in range(4))
        self.gate, self.up = nn.Linear(width, 3 * width), nn.Linear(width, 3 * width)
        self.down = nn.Linear(3 * width, width)
        self.register_buffer("angles", torch.rand(8, head))

    def _split(self, x: torch.Tensor) -> torch.Tensor:
        return x.view(1, x.shape[1], self.heads, -1).transpose(1, 2)

    def _rotate(self, x: torch.Tensor) -> torch.Tensor:
        one, other = x.chunk(2, dim=-1)
        return x * self.angles.cos() + torch.cat([-other, one], dim=-1) * self.angles.sin()

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.before(x)
        q = self._rotate(self.query_norm(self._split(self.query(y))))
        k = self._rotate(self.key_norm(self._split(self.key(y))))
        scores = torch.softmax(q @ k.transpose(-1, -2) * q.shape[-1] ** -0.5, dim=-1)
        mixed = scores @ self._split(self.value(y))
        x = x + self.out(mixed.transpose(1, 2).reshape(x.shape))
        y = self.between(x)
        return x + self.down(nn.functional.silu(self.gate(y)) * self.up(y))


def transformer(layers: int = 30, width: int = 592) -> nn.Module:
    """Decoder layers without embeddings; 30 of width 592 have about 130 million weights."""
    return nn.Sequential(*(Layer(width, 8) for _ in range(layers))).eval()


def make(path: Path = PATH) -> Path:
    """The program's path; exports it if it is not there yet."""
    if not path.exists():
        from executorch.exir import to_edge

        width = 592
        with torch.no_grad():
            exported = torch.export.export(transformer(width=width), (torch.zeros(1, 8, width),))
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_suffix(".part")
        with partial.open("wb") as file:
            to_edge(exported).to_executorch().write_to_file(file)
        partial.rename(path)
    return path


if __name__ == "__main__":
    print(make())
