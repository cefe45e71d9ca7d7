"""PyTorch model -> exported graph."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pteron.errors import UsageError
from pteron.lowering.aliases import unified
from pteron.lowering.lines import noted
from pteron.lowering.rebinding import written_back
from pteron.lowering.stages import stage
from pteron.lowering.written_constants import as_buffers

if TYPE_CHECKING:
    from torch.export import ExportedProgram


def source(name: str, given: Any) -> tuple[Any, tuple[Any, ...], Mapping[str, Any], Any]:
    """A method as its caller describes it -> model, inputs, keyword inputs, dynamic shapes.

    Raises :class:`UsageError` for what describes no method.
    """
    import torch

    if isinstance(given, torch.export.ExportedProgram):
        return given, (), {}, None
    if not isinstance(given, tuple) or not 2 <= len(given) <= 4:
        raise UsageError(
            f"method {name}: give an ExportedProgram or (module, inputs[, kwargs[, "
            "dynamic_shapes]])"
        )
    model, args, *rest = given
    kwargs, shapes = (*rest, None, None)[:2]
    if not isinstance(args, (tuple, list)):
        raise UsageError(
            f"method {name}: the example inputs must be a tuple of positional inputs, not "
            f"{type(args).__name__}; write (x,) for one"
        )
    if kwargs is not None and not isinstance(kwargs, Mapping):
        raise UsageError(
            f"method {name}: the keyword inputs must be a mapping of name to value, not "
            f"{type(kwargs).__name__}"
        )
    return model, tuple(args), dict(kwargs or {}), shapes


@dataclass(frozen=True)
class Exported:
    """A method's graph, and the other names of its buffers that share memory."""

    program: ExportedProgram
    aliases: Mapping[str, Sequence[str]] = field(default_factory=dict)


def export(
    model: Any, args: tuple[Any, ...], kwargs: Mapping[str, Any], dynamic_shapes: Any
) -> Exported:
    """The graph of a module, or of a bound method of one, as ``torch.export`` sees it.

    An ExportedProgram is taken as it is. Raises :class:`LoweringError` with torch.export's
    reason when the model cannot be exported.
    """
    import torch

    if isinstance(model, torch.export.ExportedProgram):
        return Exported(as_buffers(model))
    module = getattr(model, "__self__", model)
    if not isinstance(module, torch.nn.Module):
        raise UsageError(
            f"can lower an nn.Module, a method of one, or an ExportedProgram, not {type(model)}"
        )
    with (
        stage("torch.export cannot export the model"),
        torch.no_grad(),
        noted(module),
        unified(module) as aliases,
        written_back(module, model),
    ):
        program = torch.export.export(
            module, args, dict(kwargs), dynamic_shapes=dynamic_shapes, strict=False
        )
    return Exported(as_buffers(program), aliases)
