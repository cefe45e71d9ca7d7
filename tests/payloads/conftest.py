"""Programs that ExecuTorch itself makes, and their payloads as ExecuTorch itself decodes them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest


@dataclass
class Delegated:
    """A program of ExecuTorch's: the file, and per method the payload of its only delegate."""

    path: Path
    payloads: dict[str, bytes]
    named_data: dict[str, bytes] = field(default_factory=dict)
    model: Any = None


def decode_program(path: Path) -> Delegated:
    from executorch.exir._serialize._program import deserialize_pte_binary

    file = deserialize_pte_binary(path.read_bytes())
    data = file.program.backend_delegate_data
    payloads = {
        plan.name: bytes(data[plan.delegates[0].processed.index].data)
        for plan in file.program.execution_plan
    }
    if file.named_data is None:
        return Delegated(path, payloads)
    entries, buffers = file.named_data.pte_data, file.named_data.buffers
    named = {key: bytes(buffers[entry.buffer_index]) for key, entry in entries.items()}
    return Delegated(path, payloads, named)


def lower(path: Path, partitioner, **methods) -> Delegated:
    """Lower ``method=(module, inputs)`` with one partitioner per method and decode the result."""
    from executorch.exir import to_edge_transform_and_lower
    from torch.export import export

    programs = {name: export(module, inputs) for name, (module, inputs) in methods.items()}
    partitioners = {name: [partitioner()] for name in methods}
    manager = to_edge_transform_and_lower(programs, partitioner=partitioners)
    path.write_bytes(manager.to_executorch().buffer)
    return decode_program(path)


def core_ml():
    import coremltools as ct
    from executorch.backends.apple.coreml.compiler import CoreMLBackend
    from executorch.backends.apple.coreml.partition import CoreMLPartitioner

    specs = CoreMLBackend.generate_compile_specs(
        minimum_deployment_target=ct.target.iOS18, compute_precision=ct.precision.FLOAT16
    )
    return CoreMLPartitioner(compile_specs=specs)


def two_layers():
    import torch

    torch.manual_seed(0)
    layers = torch.nn.Linear(32, 48), torch.nn.ReLU(), torch.nn.Linear(48, 16)
    return torch.nn.Sequential(*layers).eval()


def accumulator():
    import torch

    class Accumulator(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.register_buffer("total", torch.zeros(4, 8, dtype=torch.float16))
            self.last = torch.nn.Linear(8, 8)

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            self.total.add_(x.to(torch.float16))
            return self.last(self.total.float())

    return Accumulator().eval()


@pytest.fixture(scope="session")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("executorch")


@pytest.fixture(scope="session")
def coreml_program(folder: Path) -> Delegated:
    """Two linear layers, one method, one Core ML delegate."""
    import torch

    return lower(folder / "coreml.pte", core_ml, forward=(two_layers(), (torch.zeros(1, 32),)))


@pytest.fixture(scope="session")
def stateful_program(folder: Path) -> Delegated:
    """A mutable buffer that Core ML owns as a state."""
    import torch

    return lower(folder / "state.pte", core_ml, forward=(accumulator(), (torch.zeros(4, 8),)))


@pytest.fixture(scope="session")
def multifunction_program(folder: Path) -> Delegated:
    """Two methods whose delegates refer to one model in named data."""
    import torch

    model = two_layers()
    methods = {"decode": (model, (torch.zeros(1, 32),)), "prefill": (model, (torch.zeros(8, 32),))}
    return lower(folder / "multifunction.pte", core_ml, **methods)


def quantised(model, inputs):
    """The model with weights and activations quantised to 8 bits, per channel."""
    from executorch.backends.xnnpack.quantizer.xnnpack_quantizer import (
        XNNPACKQuantizer,
        get_symmetric_quantization_config,
    )
    from torch.export import export
    from torchao.quantization.pt2e.quantize_pt2e import convert_pt2e, prepare_pt2e

    quantizer = XNNPACKQuantizer().set_global(
        get_symmetric_quantization_config(is_per_channel=True)
    )
    prepared = prepare_pt2e(export(model, inputs).module(), quantizer)
    prepared(*inputs)
    return convert_pt2e(prepared)


@pytest.fixture(scope="session")
def xnnpack_programs(folder: Path) -> dict[str, Delegated]:
    """The same two layers for XNNPACK, in float32 and quantised; weights in named data."""
    import torch
    from executorch.backends.xnnpack.partition.xnnpack_partitioner import XnnpackPartitioner

    model, inputs = two_layers(), (torch.ones(1, 32),)
    plain = lower(folder / "xnn.pte", XnnpackPartitioner, forward=(model, inputs))
    small = quantised(model, inputs)
    narrow = lower(folder / "xnn8.pte", XnnpackPartitioner, forward=(small, inputs))
    plain.model = narrow.model = model
    return {"float": plain, "quantised": narrow}


@pytest.fixture(scope="session")
def decode():
    """ExecuTorch's decoding of a program file."""
    return decode_program
