"""ExecuTorch programs (PTE), identifier ET12: ``program.fbs`` of ExecuTorch 1.5, declared.

Class and field names are those of ``program.fbs`` and of ``executorch.exir.schema``.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

from pteron.dtypes import ScalarType as ScalarType
from pteron.flatbuf import (
    BOOL,
    FLOAT64,
    INT8,
    INT32,
    INT64,
    UINT8,
    UINT32,
    UINT64,
    Table,
    blob,
    scalar,
    string,
    subtable,
    tables,
    union,
    vector,
)
from pteron.flatbuf import Buffer as Bytes

IDENTIFIER = b"ET12"


class TensorShapeDynamism(IntEnum):
    """How a tensor's shape may change at run time."""

    STATIC = 0
    DYNAMIC_BOUND = 1
    DYNAMIC_UNBOUND = 2


class TensorDataLocation(IntEnum):
    """Whether a tensor's data is in the program file or in another one."""

    SEGMENT = 0
    EXTERNAL = 1


class DeviceType(IntEnum):
    """Where a tensor's memory is."""

    CPU = 0
    CUDA = 1


class DataLocation(IntEnum):
    """Whether delegate data is in the flatbuffer or in a segment."""

    INLINE = 0
    SEGMENT = 1


@dataclass(slots=True)
class ContainerMetadata(Table):
    """How a method's flat inputs and outputs were nested."""

    encoded_inp_str: str = string("pytree specification of the inputs.")
    encoded_out_str: str = string("pytree specification of the outputs.")


@dataclass(slots=True)
class Null(Table):
    """The value ``None``."""


@dataclass(slots=True)
class AllocationDetails(Table):
    """Where memory planning put a tensor."""

    memory_id: int = scalar(UINT32, "Planned buffer, index into non_const_buffer_sizes.")
    memory_offset_low: int = scalar(UINT32, "Byte offset in that buffer, low 32 bits.")
    memory_offset_high: int = scalar(UINT32, "Byte offset in that buffer, high 32 bits.")

    @property
    def memory_offset(self) -> int:
        """Byte offset in the planned buffer."""
        return self.memory_offset_low | self.memory_offset_high << 32


@dataclass(slots=True)
class ExtraTensorInfo(Table):
    """What only few tensors need."""

    mutable_data_segments_idx: int = scalar(UINT64, "Index into Program.mutable_data_segments.")
    fully_qualified_name: str | None = string("Name in the module's state.", optional=True)
    location: TensorDataLocation = scalar(
        INT8, "EXTERNAL: the name is the key of the data in another file.", enum=TensorDataLocation
    )
    device_type: DeviceType = scalar(INT8, "Device of the memory.", enum=DeviceType)
    device_index: int = scalar(INT8, "Which device of that type.")


@dataclass(slots=True)
class Tensor(Table):
    """A tensor value: constant, planned, or given a pointer at run time."""

    scalar_type: ScalarType = scalar(INT8, "Element type.", enum=ScalarType)
    storage_offset: int = scalar(INT32, "In elements; the runtime supports zero only.")
    sizes: list[int] = vector(INT32, "Shape, or its upper bound.")
    dim_order: list[int] = vector(UINT8, "Dimensions from outermost to innermost.")
    requires_grad: bool = scalar(BOOL, "Whether it takes part in training.", default=False)
    data_buffer_idx: int = scalar(UINT32, "Constant, or initial value if allocated; 0 for none.")
    allocation_info: AllocationDetails | None = subtable(AllocationDetails, "Planned memory.")
    layout: int = scalar(INT8, "Unused.")
    shape_dynamism: TensorShapeDynamism = scalar(
        INT8, "Whether the shape may change.", enum=TensorShapeDynamism
    )
    extra_tensor_info: ExtraTensorInfo | None = subtable(ExtraTensorInfo, "Name, device, location.")


@dataclass(slots=True)
class Int(Table):
    """An integer value."""

    int_val: int = scalar(INT64, "The value.")


@dataclass(slots=True)
class Bool(Table):
    """A boolean value."""

    bool_val: bool = scalar(BOOL, "The value.", default=False)


@dataclass(slots=True)
class Double(Table):
    """A floating point value."""

    double_val: float = scalar(FLOAT64, "The value.", default=0.0)


@dataclass(slots=True)
class String(Table):
    """A text value."""

    string_val: str = string("The value.")


@dataclass(slots=True)
class IntList(Table):
    """A list of integers."""

    items: list[int] = vector(INT64, "Indices of values that hold the integers.")


@dataclass(slots=True)
class DoubleList(Table):
    """A list of floating point numbers."""

    items: list[float] = vector(FLOAT64, "The values.")


@dataclass(slots=True)
class BoolList(Table):
    """A list of booleans."""

    items: list[bool] = vector(BOOL, "The values.")


@dataclass(slots=True)
class TensorList(Table):
    """A list of tensors."""

    items: list[int] = vector(INT32, "Indices of values.")


@dataclass(slots=True)
class OptionalTensorList(Table):
    """A list of tensors, some of which may be absent."""

    items: list[int] = vector(INT32, "Indices of values, -1 for none.")


KernelTypes = (
    Null
    | Int
    | Bool
    | Double
    | Tensor
    | String
    | IntList
    | DoubleList
    | BoolList
    | TensorList
    | OptionalTensorList
)


@dataclass(slots=True)
class EValue(Table):
    """One entry of a plan's value table."""

    val: KernelTypes | None = union(
        [
            Null,
            Int,
            Bool,
            Double,
            Tensor,
            String,
            IntList,
            DoubleList,
            BoolList,
            TensorList,
            OptionalTensorList,
        ],
        "The value.",
    )


@dataclass(slots=True)
class Operator(Table):
    """An operator that a plan uses."""

    name: str = string("Name in the registry, with its namespace: aten::add.")
    overload: str = string("Overload: out.")


@dataclass(slots=True)
class KernelCall(Table):
    """Calls a kernel."""

    op_index: int = scalar(INT32, "Index into the plan's operators.")
    args: list[int] = vector(INT32, "Values it takes, inputs then outputs.")


@dataclass(slots=True)
class DelegateCall(Table):
    """Calls a delegate."""

    delegate_index: int = scalar(INT32, "Index into the plan's delegates.")
    args: list[int] = vector(INT32, "Values it takes, inputs then outputs.")


@dataclass(slots=True)
class MoveCall(Table):
    """Moves one value into another."""

    move_from: int = scalar(INT32, "Value to move from.")
    move_to: int = scalar(INT32, "Value to move into.")


@dataclass(slots=True)
class JumpFalseCall(Table):
    """Jumps when a boolean is false."""

    cond_value_index: int = scalar(INT32, "Value that decides.")
    destination_instruction: int = scalar(INT32, "Instruction to go on with.")


@dataclass(slots=True)
class FreeCall(Table):
    """Frees the memory of an unbounded dynamic tensor."""

    value_index: int = scalar(INT32, "Value to free.")


InstructionArguments = KernelCall | DelegateCall | MoveCall | JumpFalseCall | FreeCall


@dataclass(slots=True)
class Instruction(Table):
    """One step of a chain."""

    instr_args: InstructionArguments | None = union(
        [KernelCall, DelegateCall, MoveCall, JumpFalseCall, FreeCall], "What to do."
    )


@dataclass(slots=True)
class Frame(Table):
    """One line of a stack trace."""

    filename: str = string("File of the instruction.")
    lineno: int = scalar(INT32, "Line in it.")
    name: str = string("Function.")
    context: str = string("Source text.")


@dataclass(slots=True)
class FrameList(Table):
    """The stack trace of one instruction."""

    items: list[Frame] = tables(Frame, "Outermost first.")


@dataclass(slots=True)
class BackendDelegateDataReference(Table):
    """Where a delegate's payload is."""

    location: DataLocation = scalar(INT8, "Which list to look in.", enum=DataLocation)
    index: int = scalar(UINT32, "INLINE: into backend_delegate_data; SEGMENT: into segments.")


@dataclass(slots=True)
class CompileSpec(Table):
    """An option that the backend was given."""

    key: str = string("Name.")
    value: Bytes = blob("Anything.", alignment=1)


@dataclass(slots=True)
class BackendDelegate(Table):
    """A part of the method that a backend executes."""

    id: str = string("Backend: CoreMLBackend.")
    processed: BackendDelegateDataReference = subtable(
        BackendDelegateDataReference, "Its payload.", required=True
    )
    compile_specs: list[CompileSpec] = tables(CompileSpec, "Options it was compiled with.")


@dataclass(slots=True)
class Chain(Table):
    """Instructions to execute in order."""

    inputs: list[int] = vector(INT32, "Values that flow in.")
    outputs: list[int] = vector(INT32, "Values that flow out.")
    instructions: list[Instruction] = tables(Instruction, "What to do, in order.")
    stacktrace: list[FrameList] | None = tables(
        FrameList, "Stack trace of each instruction.", optional=True
    )


@dataclass(slots=True)
class NonConstBufferDevice(Table):
    """The device of one planned buffer."""

    buffer_idx: int = scalar(INT32, "Index into non_const_buffer_sizes.")
    device_type: DeviceType = scalar(INT8, "Device of the memory.", enum=DeviceType)
    device_index: int = scalar(INT8, "Which device of that type.")


@dataclass(slots=True)
class ExecutionPlan(Table):
    """One method of the program."""

    name: str = string("Name: forward.")
    container_meta_type: ContainerMetadata | None = subtable(
        ContainerMetadata, "Nesting of inputs and outputs."
    )
    values: list[EValue] = tables(EValue, "Every value the method uses.")
    inputs: list[int] = vector(INT32, "Values that the caller gives.")
    outputs: list[int] = vector(INT32, "Values that the caller gets.")
    chains: list[Chain] = tables(Chain, "Instructions; programs of today have one chain.")
    operators: list[Operator] = tables(Operator, "Operators that kernel calls use.")
    delegates: list[BackendDelegate] = tables(BackendDelegate, "Delegates.")
    non_const_buffer_sizes: list[int] = vector(
        INT64, "Bytes of each planned buffer; entry 0 is reserved."
    )
    non_const_buffer_device: list[NonConstBufferDevice] | None = tables(
        NonConstBufferDevice, "Devices of planned buffers, all CPU if absent.", optional=True
    )


@dataclass(slots=True)
class Buffer(Table):
    """A constant in the flatbuffer."""

    storage: Bytes = blob("The bytes.", alignment=16)


@dataclass(slots=True)
class BackendDelegateInlineData(Table):
    """A delegate payload in the flatbuffer."""

    data: Bytes = blob("The bytes.", alignment=16)


@dataclass(slots=True)
class DataSegment(Table):
    """A blob after the flatbuffer."""

    offset: int = scalar(UINT64, "Bytes from the segment base offset of the file's header.")
    size: int = scalar(UINT64, "Bytes, without padding.")


@dataclass(slots=True)
class SubsegmentOffsets(Table):
    """Where the tensors of a segment begin."""

    segment_index: int = scalar(UINT32, "Index into Program.segments.")
    offsets: list[int] = vector(UINT64, "Byte offset of each tensor in the segment.")


@dataclass(slots=True)
class NamedData(Table):
    """A name for a segment."""

    key: str = string("The name.")
    segment_index: int = scalar(UINT32, "Index into Program.segments.")


@dataclass(slots=True)
class Program(Table):
    """The root of a program file."""

    version: int = scalar(UINT32, "Schema version.")
    execution_plan: list[ExecutionPlan] = tables(ExecutionPlan, "The methods.")
    constant_buffer: list[Buffer] = tables(Buffer, "Inline constants (until 2024); 0 is reserved.")
    backend_delegate_data: list[BackendDelegateInlineData] = tables(
        BackendDelegateInlineData, "Inline delegate payloads."
    )
    segments: list[DataSegment] = tables(DataSegment, "Blobs after the flatbuffer.")
    constant_segment: SubsegmentOffsets | None = subtable(
        SubsegmentOffsets, "Constants in a segment; entry 0 is reserved."
    )
    mutable_data_segments: list[SubsegmentOffsets] | None = tables(
        SubsegmentOffsets, "Initial values of mutable tensors.", optional=True
    )
    named_data: list[NamedData] | None = tables(NamedData, "Named segments.", optional=True)
