"""SmolLM2 as an ``nn.Module`` that keeps its own key-value caches.

A Llama-style decoder: RMS norm, rotary positions, attention in which three query heads share one
key-value head, a gated MLP, and an embedding that is also the output projection. Every layer has
buffers ``k_cache`` and ``v_cache`` ``[1, key_heads, cache, head_size]``, so that
``forward(tokens[1, n], input_pos[1])`` is all that a prompt (n tokens at once) or a step of
generation (n = 1) needs. Rows at and past the present position are never read before they are
written, which is why a cache is rolled back by going on from an earlier ``input_pos``.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812


@dataclass(frozen=True)
class Config:
    """Sizes of a model; the defaults are SmolLM2-135M's, with room for 1024 positions of 8192."""

    layers: int = 30
    width: int = 576
    heads: int = 9
    key_heads: int = 3
    hidden: int = 1536
    vocabulary: int = 49152
    rope_base: float = 100_000.0
    epsilon: float = 1e-5
    cache: int = 1024
    """Positions that a cache has room for: the longest prompt with its answer."""
    cache_dtype: torch.dtype = torch.float16
    """Core ML's state is fp16; with fp16 buffers, eager PyTorch rounds what it does."""

    @property
    def head_size(self) -> int:
        return self.width // self.heads


def rotary_table(config: Config) -> Tensor:
    """Cosine and sine of every position's angles, ``[2, cache, head_size]``.

    Element i of a head turns together with element i + head_size / 2.
    """
    exponents = torch.arange(0, config.head_size, 2, dtype=torch.float64) / config.head_size
    angles = torch.outer(
        torch.arange(config.cache, dtype=torch.float64), config.rope_base**-exponents
    )
    angles = torch.cat([angles, angles], dim=-1)
    return torch.stack([angles.cos(), angles.sin()]).float()


def rotated(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """``x[1, n, heads, head_size]``, turned by the angles of its n positions."""
    first, second = x.chunk(2, dim=-1)
    return x * cosine + torch.cat([-second, first], dim=-1) * sine


class Attention(nn.Module):
    """Attention over all positions so far, kept in two caches."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        narrow = config.key_heads * config.head_size
        self.q = nn.Linear(config.width, config.width, bias=False)
        self.k = nn.Linear(config.width, narrow, bias=False)
        self.v = nn.Linear(config.width, narrow, bias=False)
        self.o = nn.Linear(config.width, config.width, bias=False)
        rows = (1, config.key_heads, config.cache, config.head_size)
        self.register_buffer("k_cache", torch.zeros(rows, dtype=config.cache_dtype))
        self.register_buffer("v_cache", torch.zeros(rows, dtype=config.cache_dtype))

    def forward(self, x: Tensor, start: int, rotary: Tensor, mask: Tensor) -> Tensor:
        n = x.shape[1]
        q = rotated(self.heads(self.q(x)), *rotary)
        k = rotated(self.heads(self.k(x)), *rotary)
        self.k_cache[:, :, start : start + n] = k.transpose(1, 2)
        self.v_cache[:, :, start : start + n] = self.heads(self.v(x)).transpose(1, 2)
        # Query heads that share a key head are rows of one attention: no key is repeated.
        rows = q.unflatten(2, (self.config.key_heads, -1)).transpose(1, 2).flatten(2, 3)
        keys, values = self.k_cache.to(x.dtype), self.v_cache.to(x.dtype)
        y = F.scaled_dot_product_attention(rows, keys, values, attn_mask=mask)
        return self.o(y.unflatten(2, (n, -1)).transpose(1, 2).reshape(x.shape))

    def heads(self, x: Tensor) -> Tensor:
        """``[1, n, heads * head_size]`` -> ``[1, n, heads, head_size]``."""
        return x.unflatten(-1, (-1, self.config.head_size))


class MLP(nn.Module):
    """A gated MLP."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.gate = nn.Linear(config.width, config.hidden, bias=False)
        self.up = nn.Linear(config.width, config.hidden, bias=False)
        self.down = nn.Linear(config.hidden, config.width, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        return self.down(F.silu(self.gate(x)) * self.up(x))


class Layer(nn.Module):
    """Attention, then an MLP, each on the normed sum of all before it."""

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.attention_norm = nn.RMSNorm(config.width, eps=config.epsilon)
        self.attention = Attention(config)
        self.mlp_norm = nn.RMSNorm(config.width, eps=config.epsilon)
        self.mlp = MLP(config)

    def forward(self, x: Tensor, start: int, rotary: Tensor, mask: Tensor) -> Tensor:
        x = x + self.attention(self.attention_norm(x), start, rotary, mask)
        return x + self.mlp(self.mlp_norm(x))


class SmolLM2(nn.Module):
    """Logits ``[1, vocabulary]`` of the token after ``tokens[1, n]`` (int64).

    ``input_pos[1]`` (int64) is the position of the first of them; all earlier positions must have
    been given before. ``input_pos + n`` may be ``config.cache`` at most.
    """

    def __init__(self, config: Config) -> None:
        super().__init__()
        self.config = config
        self.embedding = nn.Embedding(config.vocabulary, config.width)
        self.layers = nn.ModuleList(Layer(config) for _ in range(config.layers))
        self.norm = nn.RMSNorm(config.width, eps=config.epsilon)
        self.register_buffer("rotary", rotary_table(config), persistent=False)

    def forward(self, tokens: Tensor, input_pos: Tensor) -> Tensor:
        start, n = input_pos.item(), tokens.shape[1]
        torch._check(start >= 0)
        torch._check(start + n <= self.config.cache)
        positions = input_pos + torch.arange(n)
        # One row per query, and per query head that shares a key head.
        mask = torch.arange(self.config.cache) <= positions.view(-1, 1, 1)
        mask = mask.expand(-1, self.config.heads // self.config.key_heads, -1).flatten(0, 1)
        rotary = self.rotary[:, positions].unsqueeze(2)
        x = self.embedding(tokens)
        for layer in self.layers:
            x = layer(x, start, rotary, mask)
        return F.linear(self.norm(x[:, -1]), self.embedding.weight)


Built = tuple[SmolLM2, tuple[Tensor, Tensor], dict[str, Any]]
"""A model, example inputs, and options: what ``pteron.lower`` takes."""


def prepared(model: SmolLM2) -> Built:
    """A model with all that ``pteron.lower`` needs to make one method for any number of tokens.

    One method, because a state lives in one delegate, and Core ML makes a state of its own for
    every delegate that is loaded: a prompt's method and a step's method would not share it.
    """
    inputs = (torch.zeros(1, 8, dtype=torch.int64), torch.zeros(1, dtype=torch.int64))
    tokens = torch.export.Dim("tokens", min=1, max=model.config.cache - 1)
    return model.eval().requires_grad_(False), inputs, {"dynamic_shapes": ({1: tokens}, None)}


def build_random(config: Config, seed: int = 0) -> Built:
    """A model of any size with random weights, for tests and benchmarks."""
    with torch.random.fork_rng():
        torch.manual_seed(seed)
        model = SmolLM2(config)
        nn.init.normal_(model.embedding.weight, std=config.width**-0.5)
    return prepared(model)
