"""A GGUF file of the Llama kind -> the sizes and the dequantised weights of our model."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import torch
from gguf import GGUFReader
from gguf.quants import dequantize
from torch import Tensor

from examples.smollm2.model import Config, SmolLM2

WHOLE = {"token_embd": "embedding", "output_norm": "norm"}
"""Names in a GGUF file, and ours."""
OF_A_LAYER = {
    "attn_norm": "attention_norm",
    "attn_q": "attention.q",
    "attn_k": "attention.k",
    "attn_v": "attention.v",
    "attn_output": "attention.o",
    "ffn_norm": "mlp_norm",
    "ffn_gate": "mlp.gate",
    "ffn_up": "mlp.up",
    "ffn_down": "mlp.down",
}
"""Names after ``blk.<layer>.`` in a GGUF file, and ours after ``layers.<layer>.``."""


def load(path: Path, cache: int = Config.cache) -> SmolLM2:
    """The model of a GGUF file, in fp32, with caches for so many positions.

    Raises ValueError where the file holds another kind of model.
    """
    reader = GGUFReader(path)
    config = config_of(reader, cache)
    model = SmolLM2(config)
    missing, unexpected = model.load_state_dict(dict(weights(reader, config)), strict=False)
    if unexpected or not all(name.endswith("_cache") for name in missing):
        raise ValueError(f"{path} is not SmolLM2: {missing=}, {unexpected=}")
    return model.eval().requires_grad_(False)


def config_of(reader: GGUFReader, cache: int) -> Config:
    """The sizes that a GGUF file's metadata tells."""

    def value(key: str) -> Any:
        field = reader.get_field(key)
        if field is None:
            raise ValueError(f"the GGUF file does not say {key}")
        return field.contents()

    if value("general.architecture") != "llama":
        raise ValueError(f"a model of kind {value('general.architecture')}, not llama")
    return Config(
        layers=value("llama.block_count"),
        width=value("llama.embedding_length"),
        heads=value("llama.attention.head_count"),
        key_heads=value("llama.attention.head_count_kv"),
        hidden=value("llama.feed_forward_length"),
        vocabulary=value("llama.vocab_size"),
        rope_base=value("llama.rope.freq_base"),
        epsilon=value("llama.attention.layer_norm_rms_epsilon"),
        cache=cache,
    )


def weights(reader: GGUFReader, config: Config) -> Iterator[tuple[str, Tensor]]:
    """Every weight, dequantised, by our name for it."""
    heads = {"attn_q": config.heads, "attn_k": config.key_heads}
    for tensor in reader.tensors:
        *layer, kind, _ = tensor.name.split(".")  # blk.<layer>.<kind>.weight
        value = torch.from_numpy(np.array(dequantize(tensor.data, tensor.tensor_type), np.float32))
        if kind in heads:
            value = halves_apart(value, heads[kind])
        place = f"layers.{layer[1]}.{OF_A_LAYER[kind]}" if layer else WHOLE[kind]
        yield f"{place}.weight", value


def halves_apart(rows: Tensor, heads: int) -> Tensor:
    """A query or key projection's rows in the order that our rotation wants.

    In GGUF files of this kind elements 2i and 2i + 1 of a head turn together, here elements i and
    i + head_size / 2.
    """
    pairs = rows.unflatten(0, (heads, -1, 2))
    return pairs.transpose(1, 2).reshape(rows.shape)
