"""What is known of one released runtime."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Runtime:
    """A runtime that people deploy to.

    Attributes:
        name: how it is named on the command line.
        title: what it is, in a line.
        backends: ids of the backends that it registers.
        backend_needs: backend id -> what it needs besides on the machine.
        operators: names of the kernels that it registers (``aten::add.out``).
        quantized_operators: names of those that are registered only where they are asked for.
        links_operators: whether an app chooses the kernels that it links; ``operators`` are then
            those of the wheel of the same release, and a missing one is only a warning.
        coreml_specification: the newest Core ML specification that it loads, 0 without Core ML.
        coreml_state: whether it passes Core ML its states (``MLState``).
        coreml_state_note: what that depends on, or why not.
        source: where these facts are from.
    """

    name: str
    title: str
    backends: frozenset[str]
    backend_needs: Mapping[str, str]
    operators: frozenset[str]
    quantized_operators: frozenset[str]
    links_operators: bool
    coreml_specification: int
    coreml_state: bool
    coreml_state_note: str
    source: str

    @property
    def shares_coreml_state(self) -> bool:
        """Whether two delegates can have one state: in no release, each makes its own.

        ExecuTorch's Core ML delegate calls ``newState`` for every model that it loads
        (backends/apple/coreml/runtime/delegate/ETCoreMLModel.mm).
        """
        return False
