"""SmolLM2 for a fixed number of tokens, written for peers that do not take the example's module.

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

    def write(self, cache: Tensor, places: Tensor, rows: Tensor) -> Tensor:
        return cache.index_copy(2, places, rows)

    def forward(self, tokens: Tensor, position: Tensor, *caches: Tensor) -> tuple[Tensor, ...]:
        model, config = self.model, self.model.config
        places = position + torch.arange(tokens.shape[1])
        mask = torch.arange(config.cache) <= places.view(-1, 1)
        mask = mask.repeat(config.heads // config.key_heads, 1)
        rotary = tuple(table[places].view(1, -1, 1, config.head_size) for table in model.rotary)
        x = model.embedding(tokens)
        updated: list[Tensor] = []
        for index, layer in enumerate(model.layers):
            normed, pair = layer.attention_norm(x), caches[2 * index : 2 * index + 2]
            y, *new = self.attend(layer.attention, normed, places, rotary, mask, pair)
            updated += new
            x = x + y
            x = x + layer.mlp(layer.mlp_norm(x))
        return F.linear(model.norm(x[:, -1]), model.embedding.weight), *updated

    def attend(
        self, a: Attention, x: Tensor, places: Tensor, rotary: Any, mask: Tensor, caches: Any
    ) -> tuple[Tensor, Tensor, Tensor]:
        rows = (rotated(a.heads(a.k(x)), *rotary), a.heads(a.v(x)))
        keys, values = (
            self.write(cache, places, row.transpose(1, 2))
            for cache, row in zip(caches, rows, strict=True)
        )
        q = rotated(a.heads(a.q(x)), *rotary).transpose(1, 2)
        grouped = q.reshape(1, a.config.key_heads, -1, a.config.head_size)
        y = F.scaled_dot_product_attention(grouped, keys, values, attn_mask=mask)
        apart = y.clone(memory_format=torch.contiguous_format).view(q.shape)
        return a.o(apart.transpose(1, 2).reshape(x.shape)), keys, values


class Buffered(Functional):
    """The caches are the module's own buffers, written in place."""

    def write(self, cache: Tensor, places: Tensor, rows: Tensor) -> Tensor:
        return cache.index_copy_(2, places, rows)

    def forward(self, tokens: Tensor, position: Tensor) -> Tensor:  # type: ignore[override]
        layers = [layer.attention for layer in self.model.layers]
        caches = [cache for a in layers for cache in (a.k_cache, a.v_cache)]
        return super().forward(tokens, position, *caches)[0]


def with_openvinos_states(model: SmolLM2, tokens: int = 1) -> Any:
    """An OpenVINO model of ``tokens`` and ``position`` that gives logits and keeps its caches."""
    from pteron.engines.openvino._import import opset, ov

    config = model.config
    shape = (1, config.key_heads, config.cache, config.head_size)
    caches = [torch.zeros(shape) for _ in range(2 * config.layers)]
    prompt = torch.zeros(1, tokens, dtype=torch.int64)
    example = (prompt, torch.zeros(1, dtype=torch.int64), *caches)
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
