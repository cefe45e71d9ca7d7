"""Weights that a call reads: each blob once, tables of which rows are gathered not at all."""

from __future__ import annotations

import torch

from pteron.payloads.coreml.package import CoreMLPackage
from pteron.payloads.coreml.traffic import weights_read
from tests.engines.converted import convert

VOCABULARY, WIDTH = 300, 64


class Tied(torch.nn.Module):
    def __init__(self, tied: bool) -> None:
        super().__init__()
        self.embedding = torch.nn.Embedding(VOCABULARY, WIDTH)
        self.linear = torch.nn.Linear(WIDTH, VOCABULARY, bias=False)
        if tied:
            self.linear.weight = self.embedding.weight

    def forward(self, tokens: torch.Tensor) -> torch.Tensor:
        return self.linear(self.embedding(tokens))


def read(module: torch.nn.Module) -> int:
    source = convert(module, (torch.zeros(1, 1, dtype=torch.int32),))
    return weights_read(CoreMLPackage(source), "main")


def test_a_gathered_table_is_not_read_whole_but_a_tied_one_is() -> None:
    size = VOCABULARY * WIDTH * 2
    bias = VOCABULARY * 2  # coremltools gives every linear a bias
    for tied in (False, True):
        assert read(Tied(tied)) in (size, size + bias)
