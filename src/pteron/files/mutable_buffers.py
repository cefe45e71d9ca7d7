"""Which of a method's values are mutable buffers that the program itself owns."""

from __future__ import annotations

from collections.abc import Iterator

from pteron.files.operators import kernel_calls
from pteron.schema.program import ExecutionPlan, Tensor


def state_values(plan: ExecutionPlan) -> Iterator[tuple[int, str | None]]:
    """(value index, name or None) of every mutable buffer of a method.

    A buffer is a tensor in planned memory, not an input, that has a first value in the file, or is
    overwritten in place (an operator such as ``aten::copy_`` or ``aten::index_put_`` whose first
    argument it is) without having been the out of another operator before.
    """
    written_in_place = _written_in_place(plan)
    inputs = set(plan.inputs)
    for index, value in enumerate(plan.values):
        tensor = value.val
        if not isinstance(tensor, Tensor) or tensor.allocation_info is None or index in inputs:
            continue
        if tensor.data_buffer_idx > 0 or index in written_in_place:
            extra = tensor.extra_tensor_info
            yield index, (extra.fully_qualified_name or None) if extra is not None else None


def _written_in_place(plan: ExecutionPlan) -> set[int]:
    in_place: set[int] = set()
    out: set[int] = set()
    for name, call in kernel_calls(plan):
        if name.partition(".")[0].endswith("_"):
            in_place.update(set(call.args[:1]) - out)
        else:
            out.update(call.args[-1:])
    return in_place
