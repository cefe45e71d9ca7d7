"""ExecuTorch's own reading of files, in a form that compares with pteron's."""

from __future__ import annotations

import dataclasses
from enum import Enum
from typing import Any

import torch
from executorch.exir._serialize._flatbuffer_program import _flatbuffer_to_program
from executorch.exir._serialize._program import PTEFile as TheirFile
from executorch.exir._serialize._program import deserialize_pte_binary
from executorch.extension.pybindings import portable_lib

from tests.files.made import Made


def plain(value: Any) -> Any:
    """Tables as (name, fields), blobs as bytes, enums as ints: the same for both libraries."""
    if dataclasses.is_dataclass(value):
        fields = {f.name: plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
        return type(value).__name__, fields
    if isinstance(value, (list, tuple)):
        return [plain(item) for item in value]
    if isinstance(value, memoryview):
        return bytes(value)
    if isinstance(value, Enum):
        return int(value.value)
    return float(value) if value in ("inf", "-inf") else value


def their_program(data: bytes) -> Any:
    """The program table as ExecuTorch decodes it."""
    has_header = data[8:12] == b"eh00"
    size = int.from_bytes(data[16:24], "little") if has_header else len(data)
    return plain(_flatbuffer_to_program(data[:size]))


def their_file(data: bytes) -> TheirFile:
    """The program with constants and payloads moved back in, as ExecuTorch restores them."""
    return deserialize_pte_binary(data)


def run(made: Made, pte: bytes) -> dict[str, list[torch.Tensor]]:
    """What every method with inputs gives in ExecuTorch's runtime, two calls in a row."""
    data = next(iter(made.data.values()), None)
    module = (
        portable_lib._load_for_executorch_from_buffer(pte, data)
        if data
        else portable_lib._load_for_executorch_from_buffer(pte)
    )
    outputs: dict[str, list[torch.Tensor]] = {}
    for method, inputs in made.inputs.items():
        for call in ("first", "second"):
            given = tuple(tensor.clone() for tensor in inputs)
            results = module.run_method(method, given)
            outputs[f"{method} {call}"] = [torch.as_tensor(result).clone() for result in results]
    return outputs
