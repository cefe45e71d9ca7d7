"""PyTorch model -> exported graph."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from pteron.errors import LoweringError, UsageError
from pteron.lowering.aliases import unified
from pteron.lowering.rebinding import written_back

if TYPE_CHECKING:
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
        with torch.no_grad(), unified(model), written_back(model):
            return torch.export.export(
                model, args, dict(kwargs or {}), dynamic_shapes=dynamic_shapes, strict=False
            )
    except LoweringError:
        raise
    except Exception as error:
        raise LoweringError(f"torch.export cannot export the model: {error}") from error
