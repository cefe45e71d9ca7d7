"""Attention to two caches for as many tokens as a call has, and what pteron makes of it."""

from __future__ import annotations

import copy
from functools import cache

import numpy as np
import torch
from torch import Tensor, nn

import pteron
from pteron.payloads import open_payload
from pteron.payloads.base import PayloadSource

ROWS = 40  # no multiple of a page
SIZE = 32
WIDTH = 4 * SIZE
STATES = ("k_cache", "v_cache")


class FlexibleAttention(nn.Module):
    """One layer's attention; ``form`` says how heads are shared, ``mask`` how it is made."""

    def __init__(self, form: str, mask: str = "compared") -> None:
        super().__init__()
        torch.manual_seed(1)
        self.form, self.mask = form, mask
        self.kv_heads = 4 if form == "plain" else 2
        self.q = nn.Linear(WIDTH, WIDTH, bias=False)
        self.kv = nn.Linear(WIDTH, 2 * self.kv_heads * SIZE, bias=False)
        rows = (1, self.kv_heads, ROWS, SIZE)
        self.register_buffer("k_cache", torch.zeros(rows))
        self.register_buffer("v_cache", torch.zeros(rows))
        self.register_buffer("table", torch.ones(ROWS, ROWS).tril() > 0, persistent=False)

    def forward(self, x: Tensor, position: Tensor) -> Tensor:
        n, start = x.shape[1], position.item()
        torch._check(start >= 0)
        torch._check(start + n <= ROWS)
        q = self.q(x).unflatten(2, (4, SIZE)).transpose(1, 2)
        k, v = self.kv(x).unflatten(2, (-1, SIZE)).transpose(1, 2).chunk(2, 1)
        q, k = self.placed(q, position), self.placed(k, position)
        self.k_cache[:, :, start : start + n] = k
        self.v_cache[:, :, start : start + n] = v
        mask = self.visible(position, n)
        keys, values = self.k_cache, self.v_cache
        if self.form == "repeated":
            keys, values = (rows.repeat_interleave(2, 1) for rows in (keys, values))
        if self.form == "grouped":
            q = q.unflatten(1, (2, 2)).transpose(2, 3).flatten(2, 3)
            mask = mask.view(-1, 1, ROWS).expand(-1, 2, -1).flatten(0, 1)
        y = nn.functional.scaled_dot_product_attention(q, keys, values, attn_mask=mask)
        if self.form == "grouped":
            return y.unflatten(2, (n, 2)).transpose(1, 2).reshape(x.shape)
        return y.transpose(1, 2).reshape(x.shape)

    def placed(self, rows: Tensor, position: Tensor) -> Tensor:
        """Queries or keys ``[1, heads, n, SIZE]``, told where they are; here they are not."""
        return rows

    def visible(self, position: Tensor, n: int) -> Tensor:
        """What each of the n tokens sees, ``[n, ROWS]``."""
        start, rows = position.item(), torch.arange(ROWS)
        at = (position + torch.arange(n)).view(-1, 1)
        masks = {
            "compared": lambda: rows <= at,
            "added": lambda: torch.zeros(n, ROWS).masked_fill(rows > at, -1e4),
            "looked up": lambda: self.table[at.view(-1)],
            "cut out": lambda: self.table[start : start + n],
        }
        return masks[self.mask]()


@cache
def program(form: str, mask: str = "compared") -> tuple[nn.Module, pteron.PTEFile]:
    """The module, and what pteron lowers it to."""
    module = FlexibleAttention(form, mask).eval().requires_grad_(False)
    return module, lowered(module)


def lowered(module: nn.Module, low: int = 1, high: int = ROWS - 1) -> pteron.PTEFile:
    inputs = (torch.zeros(1, 8, WIDTH), torch.zeros(1, dtype=torch.int64))
    tokens = torch.export.Dim("tokens", min=low, max=high)
    shapes = ({1: tokens}, None)
    return pteron.lower(copy.deepcopy(module), inputs, dynamic_shapes=shapes)


def source(file: pteron.PTEFile) -> PayloadSource:
    (delegate,) = file.delegates
    return open_payload(delegate.backend_id, delegate.payload, {}, delegate.method)


def call(count: int, at: int) -> list[np.ndarray]:
    """Inputs of a call, the same for the same count and position."""
    x = np.random.default_rng([count, at]).standard_normal((1, count, WIDTH)).astype(np.float32)
    return [x, np.array([at], np.int32)]
