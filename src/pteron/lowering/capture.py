"""PyTorch model -> functional graph."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from pteron.errors import LoweringError, UsageError

if TYPE_CHECKING:
    from torch._ops import OpOverload
    from torch.export import ExportedProgram
    from torch.nn import Module


def export(
    model: Module | ExportedProgram,
    args: tuple[Any, ...],
    kwargs: Mapping[str, Any] | None = None,
    dynamic_shapes: Any = None,
) -> ExportedProgram:
    """The model's graph as ``torch.export`` sees it; an ExportedProgram is taken as it is.

    Raises :class:`LoweringError` with torch.export's reason when the model cannot be exported.
    """
    import torch

    if isinstance(model, torch.export.ExportedProgram):
        return model
    if not isinstance(model, torch.nn.Module):
        raise UsageError(f"can lower an nn.Module or an ExportedProgram, not {type(model)}")
    try:
        with torch.no_grad():
            return torch.export.export(
                model, args, dict(kwargs or {}), dynamic_shapes=dynamic_shapes, strict=False
            )
    except Exception as error:
        raise LoweringError(f"torch.export cannot export the model: {error}") from error


def functional(program: ExportedProgram, keep: Callable[[OpOverload], bool]) -> ExportedProgram:
    """Writes become values and mutation outputs; operators become core ATen ones.

    ``keep`` says which operators are taken as they are, and so are not decomposed.
    """
    import torch

    table = torch.export.default_decompositions()
    for op in [op for op in table if keep(op)]:
        table.pop(op)
    with torch.no_grad():
        return program.run_decompositions(table)
