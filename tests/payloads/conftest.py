"""Payloads of programs that ExecuTorch makes, as ExecuTorch itself decodes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import pytest

from tests.files.conftest import made, session_directory  # noqa: F401 - fixtures
from tests.files.made import Made
from tests.files.oracle import their_file


@dataclass
class Delegated:
    """Per method the payload of its only delegate, and the file's named data."""

    payloads: dict[str, bytes]
    named_data: dict[str, bytes] = field(default_factory=dict)


Decode = Callable[[bytes], Delegated]
Make = Callable[[str], Made]


def decode_program(pte: bytes) -> Delegated:
    file = their_file(pte)
    data = file.program.backend_delegate_data
    payloads = {
        plan.name: bytes(data[plan.delegates[0].processed.index].data)
        for plan in file.program.execution_plan
    }
    if file.named_data is None:
        return Delegated(payloads)
    entries, buffers = file.named_data.pte_data, file.named_data.buffers
    named = {key: bytes(buffers[entry.buffer_index]) for key, entry in entries.items()}
    return Delegated(payloads, named)


@pytest.fixture(scope="session")
def decode() -> Decode:
    """ExecuTorch's decoding of a program file."""
    return decode_program


@pytest.fixture(scope="session")
def coreml_program(made: Make) -> Delegated:  # noqa: F811
    """Two linear layers, one method, one Core ML delegate."""
    return decode_program(made("core_ml").pte)


@pytest.fixture(scope="session")
def stateful_program(made: Make) -> Delegated:  # noqa: F811
    """A mutable buffer that Core ML owns as a state."""
    return decode_program(made("core_ml_state").pte)


@pytest.fixture(scope="session")
def multifunction_program(made: Make) -> Delegated:  # noqa: F811
    """Two methods whose delegates refer to one model in named data."""
    return decode_program(made("core_ml_multifunction").pte)


@pytest.fixture(scope="session")
def xnnpack_program(made: Make) -> Delegated:  # noqa: F811
    """Two linear layers for XNNPACK, in float32."""
    return decode_program(made("xnnpack").pte)


@pytest.fixture(scope="session")
def quantised_program(made: Make) -> Delegated:  # noqa: F811
    """The same, quantised per channel; slow to make."""
    return decode_program(made("xnnpack_quantised").pte)
