"""Small programs made from schema objects."""

from __future__ import annotations

from pteron.files import PTEFile
from pteron.schema.program import (
    AllocationDetails,
    Chain,
    ContainerMetadata,
    EValue,
    ExecutionPlan,
    Instruction,
    Int,
    KernelCall,
    Operator,
    Program,
    ScalarType,
    Tensor,
)


def float_tensor(offset: int, sizes: tuple[int, ...] = (2, 2)) -> EValue:
    """A planned float32 tensor at a byte offset of planned buffer 1."""
    return EValue(
        Tensor(
            scalar_type=ScalarType.FLOAT,
            sizes=list(sizes),
            dim_order=list(range(len(sizes))),
            allocation_info=AllocationDetails(memory_id=1, memory_offset_low=offset),
        )
    )


def constant_tensor(index: int, sizes: tuple[int, ...] = (2, 2)) -> EValue:
    """A constant float32 tensor."""
    return EValue(
        Tensor(
            scalar_type=ScalarType.FLOAT,
            sizes=list(sizes),
            dim_order=list(range(len(sizes))),
            data_buffer_idx=index,
        )
    )


def add_plan(values: list[EValue], inputs: list[int], name: str = "forward") -> ExecutionPlan:
    """``values[0] + values[1]`` into ``values[3]``; ``values[2]`` is alpha."""
    return ExecutionPlan(
        name=name,
        container_meta_type=ContainerMetadata("", ""),
        values=values,
        inputs=inputs,
        outputs=[3],
        chains=[Chain(instructions=[Instruction(KernelCall(op_index=0, args=[0, 1, 2, 3, 3]))])],
        operators=[Operator("aten::add", "out")],
        non_const_buffer_sizes=[0, 64],
    )


def add_program() -> PTEFile:
    """Adds two inputs of shape 2 x 2."""
    values = [float_tensor(0), float_tensor(16), EValue(Int(1)), float_tensor(32)]
    return PTEFile(program=Program(execution_plan=[add_plan(values, [0, 1])]))


def add_constant_program(constants: list[bytes], **options: object) -> PTEFile:
    """Adds constant 1 to an input of shape 2 x 2."""
    values = [float_tensor(0), constant_tensor(1), EValue(Int(1)), float_tensor(32)]
    program = Program(execution_plan=[add_plan(values, [0])])
    return PTEFile(program=program, constants=constants, **options)  # type: ignore[arg-type]
