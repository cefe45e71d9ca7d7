"""SmolLM2 one token at a time, written for peers that do not take the example's module.

The weights and the numbers are the example's; caches are written with ``index_copy``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F  # noqa: N812

from examples.smollm2.model import Attention, SmolLM2, rotated


class Functional(nn.Module):
    """Caches come in and go out: keys and values of each layer in turn, after the logits."""

    def __init__(self, model: SmolLM2) -> None:
        super().__init__()
        self.model = model

    def write(self, cache: Tensor, position: Tensor, row: Tensor) -> Tensor:
        return cache.index_copy(2, position, row)

    def forward(self, tokens: Tensor, position: Tensor, *caches: Tensor) -> tuple[Tensor, ...]:
        model = self.model
        mask = (torch.arange(model.config.cache) <= position).view(1, 1, 1, -1)
        cosine, sine = (table[position].view(1, 1, 1, -1) for table in model.rotary)
        x = model.embedding(tokens)
        updated: list[Tensor] = []
        for index, layer in enumerate(model.layers):
            normed, pair = layer.attention_norm(x), caches[2 * index : 2 * index + 2]
            y, *new = self.attend(layer.attention, normed, position, (cosine, sine), mask, pair)
            updated += new
            x = x + y
            x = x + layer.mlp(layer.mlp_norm(x))
        return F.linear(model.norm(x[:, -1]), model.embedding.weight), *updated

    def attend(
        self, a: Attention, x: Tensor, position: Tensor, rotary: Any, mask: Tensor, caches: Any
    ) -> tuple[Tensor, Tensor, Tensor]:
        key_heads, size = a.config.key_heads, a.config.head_size
        q = rotated(a.q(x).view(1, 1, -1, size), *rotary).view(1, key_heads, -1, size)
        k = rotated(a.k(x).view(1, 1, -1, size), *rotary).view(1, key_heads, 1, size)
        v = a.v(x).view(1, key_heads, 1, size)
        keys, values = (self.write(c, position, r) for c, r in zip(caches, (k, v), strict=True))
        y = F.scaled_dot_product_attention(q, keys, values, attn_mask=mask)
        rows = y.clone(memory_format=torch.contiguous_format).view(1, 1, -1)
        return a.o(rows), keys, values


class Buffered(Functional):
    """The caches are the module's own buffers, written in place."""

    def write(self, cache: Tensor, position: Tensor, row: Tensor) -> Tensor:
        return cache.index_copy_(2, position, row)

    def forward(self, tokens: Tensor, position: Tensor) -> Tensor:  # type: ignore[override]
        layers = [layer.attention for layer in self.model.layers]
        caches = [cache for a in layers for cache in (a.k_cache, a.v_cache)]
        return super().forward(tokens, position, *caches)[0]


def with_openvinos_states(model: SmolLM2) -> Any:
    """An OpenVINO model of ``tokens`` and ``position`` that gives logits and keeps its caches."""
    from pteron.engines.openvino._import import opset, ov

    config = model.config
    shape = (1, config.key_heads, config.cache, config.head_size)
    caches = [torch.zeros(shape) for _ in range(2 * config.layers)]
    example = (torch.zeros(1, 1, dtype=torch.int64), torch.zeros(1, dtype=torch.int64), *caches)
    with torch.no_grad():
        program = torch.export.export(Functional(model).eval(), example)
    converted = ov.convert_model(program)
    parameters, results = converted.get_parameters()[2:], converted.get_results()[1:]
    for index, (parameter, result) in enumerate(zip(parameters, results, strict=True)):
        info = ov.op.util.VariableInfo()
        info.data_shape, info.data_type = ov.PartialShape(shape), ov.Type.f32
        info.variable_id = f"cache{index}"
        variable = ov.op.util.Variable(info)
        kept = ov.op.read_value(opset.constant(np.zeros(shape, np.float32)), variable)
        for reader in parameter.output(0).get_target_inputs():
            reader.replace_source_output(kept.output(0))
        converted.add_sinks([ov.op.assign(result.input_value(0).get_node(), variable)])
        converted.remove_result(result)
        converted.remove_parameter(parameter)
    return converted
