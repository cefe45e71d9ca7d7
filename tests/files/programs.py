"""Small programs made from schema objects."""

from __future__ import annotations

from pteron.files import NamedBlob, PTEFile
from pteron.schema.program import (
    AllocationDetails,
    BackendDelegate,
    BackendDelegateDataReference,
    Bool,
    BoolList,
    Chain,
    CompileSpec,
    ContainerMetadata,
    DelegateCall,
    DeviceType,
    Double,
    DoubleList,
    EValue,
    ExecutionPlan,
    ExtraTensorInfo,
    Frame,
    FrameList,
    FreeCall,
    Instruction,
    Int,
    IntList,
    JumpFalseCall,
    KernelCall,
    MoveCall,
    NonConstBufferDevice,
    Null,
    Operator,
    OptionalTensorList,
    Program,
    ScalarType,
    String,
    Tensor,
    TensorDataLocation,
    TensorList,
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


def busy_program() -> PTEFile:
    """Every table, union member and kind of segment that a program can have."""
    values = [
        float_tensor(0),
        constant_tensor(1),
        EValue(Int(1)),
        float_tensor(32),
        EValue(Null()),
        EValue(Bool(True)),
        EValue(Double(2.5)),
        EValue(String("text")),
        EValue(IntList([2, 2])),
        EValue(DoubleList([0.5, float("inf")])),
        EValue(BoolList([True, False])),
        EValue(TensorList([0, 3])),
        EValue(OptionalTensorList([-1, 3])),
        mutable_tensor(1, "state"),
        external_tensor("weight"),
    ]
    calls = [
        KernelCall(0, [0, 1, 2, 3, 3]),
        DelegateCall(0, [0, 3]),
        MoveCall(0, 3),
        JumpFalseCall(5, 0),
        FreeCall(3),
    ]
    plan = add_plan(values, [0])
    trace = FrameList([Frame("model.py", 3, "forward", "return x + y")])
    plan.chains = [Chain([0], [3], [Instruction(call) for call in calls], [trace for _ in calls])]
    specs = [CompileSpec("precision", b"f16"), CompileSpec("target", b"")]
    plan.delegates = [
        BackendDelegate("OneBackend", BackendDelegateDataReference(index=0), specs),
        BackendDelegate("OtherBackend", BackendDelegateDataReference(index=1), []),
    ]
    plan.non_const_buffer_device = [NonConstBufferDevice(1, DeviceType.CUDA, 1)]
    return PTEFile(
        program=Program(execution_plan=[plan]),
        constants=[b"", bytes(16)],
        mutable_data=[b"", bytes(range(16))],
        delegate_payloads=[b"payload " * 20, b"other"],
        named_data={"one": NamedBlob(b"1" * 33, 64), "two": NamedBlob(b"2", 16)},
    )


def mutable_tensor(index: int, name: str) -> EValue:
    """A planned float32 tensor with an initial value."""
    value = float_tensor(48)
    assert isinstance(value.val, Tensor)
    value.val.data_buffer_idx = index
    value.val.extra_tensor_info = ExtraTensorInfo(fully_qualified_name=name)
    return value


def external_tensor(name: str) -> EValue:
    """A float32 tensor whose data is in another file."""
    value = constant_tensor(0)
    assert isinstance(value.val, Tensor)
    value.val.extra_tensor_info = ExtraTensorInfo(
        fully_qualified_name=name, location=TensorDataLocation.EXTERNAL
    )
    return value
