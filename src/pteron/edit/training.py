"""Methods that belong to a method: what ExecuTorch's training runtime asks for by name."""

from __future__ import annotations

from pteron.schema.program import Program

_PREFIXES = (
    "__et_training_gradients_index_",
    "__et_training_parameters_index_",
    "__et_training_fqn_",
)
"""Source: ``_get_training_metadata`` in ``executorch/exir/emit/_emit_program.py``."""


def companions(program: Program, method: str) -> dict[str, str]:
    """Prefix -> name of each constant method that describes the training method ``method``."""
    names = {plan.name for plan in program.execution_plan}
    return {prefix: prefix + method for prefix in _PREFIXES if prefix + method in names}
