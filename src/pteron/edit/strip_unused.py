"""Leave out what no method uses: blobs, operators and values."""

from __future__ import annotations

from pteron.edit.blob_indices import drop_unused_blobs
from pteron.edit.named_data_uses import without_unused
from pteron.edit.value_uses import change_items, change_references, used_values
from pteron.errors import FormatError
from pteron.files import PTEFile
from pteron.schema.program import EValue, ExecutionPlan, KernelCall, Tensor


def strip_unused(file: PTEFile) -> PTEFile:
    """The program without constants, operators, values and named data that nothing refers to.

    Only what provably has no effect goes. A tensor stays, even if no instruction uses it, where
    it has a name (ExecuTorch's ``Method::get_attribute`` finds it) or a first value in planned
    memory (loading the method writes it there, and another tensor may lie in the same place).
    Named data goes only where every delegate's payload can be read.
    """
    parts = file.parts()
    for plan in parts.program.execution_plan:
        _drop_values(plan)
        _drop_operators(plan)
    drop_unused_blobs(parts)
    parts.named_data = without_unused(parts, parts.named_data)
    return PTEFile(**vars(parts))


def _drop_values(plan: ExecutionPlan) -> None:
    used = used_values(plan)
    kept = [i for i, value in enumerate(plan.values) if i in used or _has_effect(value)]
    moved = {old: new for new, old in enumerate(kept)}
    change_references(plan, moved.__getitem__)
    plan.values = [plan.values[index] for index in kept]
    for value in plan.values:
        change_items(value.val, moved.__getitem__)


def _has_effect(value: EValue) -> bool:
    tensor = value.val
    if not isinstance(tensor, Tensor):
        return False
    info = tensor.extra_tensor_info
    named = info is not None and bool(info.fully_qualified_name)
    return named or (tensor.allocation_info is not None and tensor.data_buffer_idx > 0)


def _drop_operators(plan: ExecutionPlan) -> None:
    calls = _kernel_calls(plan)
    used = sorted({call.op_index for call in calls})
    if used and not 0 <= used[0] <= used[-1] < len(plan.operators):
        raise FormatError(
            f"a kernel call names operator {used[-1]} of {len(plan.operators)}",
            where=f"method {plan.name!r}",
        )
    moved = {old: new for new, old in enumerate(used)}
    for call in calls:
        call.op_index = moved[call.op_index]
    plan.operators = [plan.operators[index] for index in used]


def _kernel_calls(plan: ExecutionPlan) -> list[KernelCall]:
    steps = [step.instr_args for chain in plan.chains for step in chain.instructions]
    return [call for call in steps if isinstance(call, KernelCall)]
