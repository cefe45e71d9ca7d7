"""Programs made for the report's tests: large, with a history, and hostile."""

from __future__ import annotations

from pteron.dtypes import ScalarType
from pteron.files import PTEFile
from pteron.schema.program import (
    AllocationDetails,
    Chain,
    ContainerMetadata,
    EValue,
    ExecutionPlan,
    ExtraTensorInfo,
    Frame,
    FrameList,
    Instruction,
    Int,
    KernelCall,
    Operator,
    Program,
    Tensor,
)

_OPERATORS = ("aten::add", "aten::mul", "aten::mm", "aten::sigmoid")
_SIZE = 4096


def tensor(offset: int | None, name: str = "", constant: int = 0) -> EValue:
    """A float32 tensor of 1024 elements: planned at ``offset``, or constant ``constant``."""
    return EValue(
        Tensor(
            scalar_type=ScalarType.FLOAT,
            sizes=[8, 128],
            dim_order=[0, 1],
            data_buffer_idx=constant,
            allocation_info=None if offset is None else AllocationDetails(1, offset, 0),
            extra_tensor_info=ExtraTensorInfo(fully_qualified_name=name) if name else None,
        )
    )


def long_program(steps: int, *, extra_values: int = 0, layers: int = 0) -> PTEFile:
    """A chain of ``steps`` kernel calls, each on what the last one gave and a constant.

    ``extra_values`` further numbers pad the value table. With ``layers``, every instruction has a
    stack trace: a layer of the model, and a module in it.
    """
    values = [tensor(0, "x"), EValue(Int(1))]
    calls = []
    for step in range(steps):
        weight = len(values)
        values.append(tensor(None, f"layers.{step}.weight", constant=1 + step % 200))
        values.append(tensor(_SIZE * (1 + step % 2)))
        before = weight - 1 if step else 0
        calls.append(KernelCall(step % 4, [before, weight, 1, weight + 1, weight + 1]))
    values += [EValue(Int(number)) for number in range(extra_values)]
    stacks = [_stack(step * layers // steps, step) for step in range(steps)] if layers else None
    plan = ExecutionPlan(
        name="forward",
        container_meta_type=ContainerMetadata("", ""),
        values=values,
        inputs=[0],
        outputs=[calls[-1].args[-1]],
        chains=[Chain(instructions=[Instruction(call) for call in calls], stacktrace=stacks)],
        operators=[Operator(name, "out") for name in _OPERATORS],
        non_const_buffer_sizes=[0, 3 * _SIZE],
    )
    constants = [b"", *(bytes([number]) * _SIZE for number in range(200))]
    return PTEFile(program=Program(execution_plan=[plan]), constants=constants)


def _stack(layer: int, step: int) -> FrameList:
    part = ("attention", "feed_forward")[step // 3 % 2]
    return FrameList(
        [
            Frame("/home/me/model.py", 12, "forward", f"x = self.layers[{layer}](x)"),
            Frame(f"/home/me/layer_{layer}.py", 30 + layer, "forward", f"self.{part}(x)"),
            Frame(f"/home/me/{part}.py", step, "forward", "return x + y"),
        ]
    )
