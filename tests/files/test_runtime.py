"""What pteron writes, ExecuTorch's own runtime loads and runs."""

from __future__ import annotations

import numpy as np
import torch
from executorch.runtime import Runtime

from tests.files.programs import add_constant_program, add_program

X = torch.arange(4, dtype=torch.float32).reshape(2, 2)


def run(data: bytes, *inputs: torch.Tensor) -> torch.Tensor:
    (output,) = Runtime.get().load_program(data).load_method("forward").execute(list(inputs))
    return output


def test_add() -> None:
    assert torch.equal(run(add_program().to_bytes(), X, 2 * X), 3 * X)


def test_add_constant() -> None:
    constant = np.array([1, 2, 3, 4], np.float32).tobytes()
    file = add_constant_program([b"", constant])
    assert torch.equal(run(file.to_bytes(), X), X + torch.tensor([[1.0, 2], [3, 4]]))
