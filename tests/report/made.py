"""Programs made for the report's tests: large, with a history, and hostile."""

from __future__ import annotations

import json
from typing import NamedTuple

from pteron.dtypes import ScalarType
from pteron.files import NamedBlob, PTEFile
from pteron.payloads.coreml import memfs
from pteron.payloads.coreml.proto import mil_pb2 as mil
from pteron.payloads.coreml.proto.model_pb2 import Model, ModelDescription
from pteron.schema.program import (
    AllocationDetails,
    BackendDelegate,
    BackendDelegateDataReference,
    Chain,
    CompileSpec,
    ContainerMetadata,
    DelegateCall,
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
    String,
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


HOSTILE = "</script><script>window.hacked=1</script><img src=x onerror=window.hacked=2>"
"""A name that would run if it ever became markup."""


def hostile_program() -> PTEFile:
    """Every name that a program can have is :data:`HOSTILE`, those inside its payload too."""
    values = [tensor(0, HOSTILE), tensor(None, HOSTILE, constant=1), tensor(_SIZE)]
    values += [tensor(2 * _SIZE), EValue(String(HOSTILE)), tensor(3 * _SIZE, f"state {HOSTILE}", 1)]
    calls = [
        KernelCall(0, [0, 1, 4, 2, 2]),
        DelegateCall(0, [2, 3]),
        DelegateCall(1, [3, 2]),
        KernelCall(1, [5, 3, 5]),
    ]
    stack = FrameList([Frame(HOSTILE, 1, HOSTILE, HOSTILE)])
    specs = [CompileSpec(HOSTILE, HOSTILE.encode())]
    plan = ExecutionPlan(
        name=HOSTILE,
        container_meta_type=ContainerMetadata(HOSTILE, HOSTILE),
        values=values,
        inputs=[0],
        outputs=[3],
        chains=[
            Chain(instructions=[Instruction(c) for c in calls], stacktrace=[stack for _ in calls])
        ],
        operators=[Operator(HOSTILE, HOSTILE), Operator(f"{HOSTILE}_", HOSTILE)],
        delegates=[
            BackendDelegate("CoreMLBackend", BackendDelegateDataReference(index=0), specs),
            BackendDelegate(HOSTILE, BackendDelegateDataReference(index=1), specs),
        ],
        non_const_buffer_sizes=[0, 4 * _SIZE],
    )
    names = Names(HOSTILE, HOSTILE, f"state {HOSTILE}", f"sum {HOSTILE}", HOSTILE, HOSTILE)
    return PTEFile(
        program=Program(execution_plan=[plan]),
        constants=[b"", bytes(_SIZE)],
        mutable_data=[b"", bytes(_SIZE)],
        delegate_payloads=[coreml_payload(names), HOSTILE.encode()],
        named_data={HOSTILE: NamedBlob(bytes(64), 16)},
    )


def counter_program() -> PTEFile:
    """One delegate that adds its input to a state and gives the sum."""
    plan = ExecutionPlan(
        name="forward",
        container_meta_type=ContainerMetadata("", ""),
        values=[tensor(0, "x"), tensor(_SIZE)],
        inputs=[0],
        outputs=[1],
        chains=[Chain(instructions=[Instruction(DelegateCall(0, [0, 1]))])],
        delegates=[BackendDelegate("CoreMLBackend", BackendDelegateDataReference(index=0), [])],
        non_const_buffer_sizes=[0, 2 * _SIZE],
    )
    names = Names("main", "x", "total", "sum", "add", "fp16")
    return PTEFile(
        program=Program(execution_plan=[plan]), delegate_payloads=[coreml_payload(names)]
    )


class Names(NamedTuple):
    """What things in a Core ML program are called."""

    function: str
    input: str
    state: str
    output: str
    operation: str
    text: str


def coreml_payload(names: Names) -> bytes:
    """A Core ML program that reads a state, adds its input to it, and writes it back."""
    shape = [mil.Dimension(constant=mil.Dimension.ConstantDimension(size=n)) for n in (8, 128)]
    kind = mil.TensorType(dataType=mil.FLOAT16, rank=2, dimensions=shape)
    tensor_type = mil.ValueType(tensorType=kind)
    state_type = mil.ValueType(stateType=mil.StateType(wrappedType=tensor_type))

    def operation(type_: str, output: str, **inputs: str) -> mil.Operation:
        binding = mil.Argument.Binding
        return mil.Operation(
            type=type_,
            inputs={k: mil.Argument(arguments=[binding(name=v)]) for k, v in inputs.items()},
            outputs=[mil.NamedValueType(name=output, type=tensor_type)] if output else [],
        )

    constant = operation("const", "text")
    text = mil.TensorValue(strings=mil.TensorValue.RepeatedStrings(values=[names.text]))
    constant.attributes["val"].immediateValue.tensor.CopyFrom(text)
    held = f"held {names.state}"
    block = mil.Block(
        outputs=[names.output],
        operations=[
            constant,
            operation("read_state", held, input=names.state),
            operation(names.operation, names.output, x=held, y=names.input, mode="text"),
            operation("write_state", "", input=names.state, data=names.output),
        ],
    )
    function = mil.Function(
        inputs=[
            mil.NamedValueType(name=names.input, type=tensor_type),
            mil.NamedValueType(name=names.state, type=state_type),
        ],
        opset="CoreML8",
        block_specializations={"CoreML8": block},
    )
    program = mil.Program(version=1, functions={names.function: function})
    description = ModelDescription(defaultFunctionName=names.function)
    model = Model(specificationVersion=9, description=description, mlProgram=program)
    return _package(model.SerializeToString(), names)


def _package(model: bytes, names: Names) -> bytes:
    item = {"path": "com.apple.CoreML/model.mlmodel", "name": "model.mlmodel"}
    manifest = {"itemInfoEntries": {"one": item}, "rootModelIdentifier": "one"}
    metadata = {
        "identifier": names.function,
        "inputNames": [names.input],
        "outputNames": [names.output],
    }
    return memfs.flatten(
        {
            "metadata.json": json.dumps(metadata).encode(),
            "model.mlpackage/Data/com.apple.CoreML/model.mlmodel": model,
            "model.mlpackage/Manifest.json": json.dumps(manifest).encode(),
        }
    )
