"""An exported graph -> a functional graph of operators that something downstream takes."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from torch import Tensor
    from torch._ops import OpOverload
    from torch.export import ExportedProgram

Keep = Callable[["OpOverload"], bool]


def functional(program: ExportedProgram, keep: Keep) -> ExportedProgram:
    """Writes become values and mutation outputs; operators become core ATen ones.

    ``keep`` says which operators are taken as they are, and so are not decomposed.
    """
    import torch

    with torch.no_grad():
        program = program.run_decompositions(_table(torch.export.default_decompositions(), keep))
        late = _table(_late_decompositions(), keep)
        if any(node.target in late for node in program.graph.nodes):
            program = program.run_decompositions(late)
    _drop_assertions(program)
    return program


def _table(table: Any, keep: Keep) -> Any:
    for op in [op for op in table if keep(op)]:
        table.pop(op)
    return table


def _late_decompositions() -> dict[Any, Callable[..., Any]]:
    """What only functionalisation brings into a graph, and torch's own table leaves alone."""
    import torch
    from torch._decomp import get_decompositions

    aten = torch.ops.aten
    table = get_decompositions([aten._native_batch_norm_legit_functional.default])
    table[aten.as_strided_scatter.default] = _as_strided_scatter
    table[aten.diagonal_scatter.default] = _diagonal_scatter
    return dict(table)


def _as_strided_scatter(
    self: Tensor,
    src: Tensor,
    size: Sequence[int],
    stride: Sequence[int],
    storage_offset: int | None = None,
) -> Tensor:
    """Write ``src`` through the view ``self.as_strided(size, stride, storage_offset)``."""
    import torch

    places = torch.full((), storage_offset or 0, dtype=torch.int64)
    for axis, (length, step) in enumerate(zip(size, stride, strict=True)):
        shape = [1] * axis + [length] + [1] * (len(size) - axis - 1)
        places = places + (torch.arange(length) * step).view(shape)
    flat = self.reshape(-1).scatter(0, places.expand(tuple(size)).reshape(-1), src.reshape(-1))
    return flat.view(self.shape)


def _diagonal_scatter(
    self: Tensor, src: Tensor, offset: int = 0, dim1: int = 0, dim2: int = 1
) -> Tensor:
    """Write ``src`` through the view ``self.diagonal(offset, dim1, dim2)``."""
    import torch

    like = torch.empty(self.shape, device="meta").diagonal(offset, dim1, dim2)
    return _as_strided_scatter(self, src, like.shape, like.stride(), like.storage_offset())


def _drop_assertions(program: ExportedProgram) -> None:
    """Remove checks of what tracing already knows (``_assert_tensor_metadata`` and its like)."""
    for node in reversed(list(program.graph.nodes)):
        name = getattr(node.target, "__name__", "")
        if node.op == "call_function" and name.startswith(("_assert", "sym_constrain_range")):
            program.graph.erase_node(node)
    program.graph_module.recompile()
