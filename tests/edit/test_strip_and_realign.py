"""Less in a file, or more room between its parts, and the same outputs."""

from __future__ import annotations

from collections.abc import Callable

import pytest
import torch

from pteron.edit import realign, strip_stack_traces, strip_unused
from pteron.errors import FormatError, UsageError
from pteron.files import NamedBlob, PTEFile
from pteron.schema.program import (
    Chain,
    EValue,
    ExtraTensorInfo,
    FreeCall,
    Instruction,
    Int,
    IntList,
    JumpFalseCall,
    MoveCall,
    Operator,
    OptionalTensorList,
    Program,
    Tensor,
    TensorList,
)
from tests.edit.proof import assert_equal, canonical, content, program, proven, run
from tests.files.made import Made, X
from tests.files.programs import add_plan, constant_tensor, float_tensor

Opened = Callable[[str], PTEFile]
Maker = Callable[[str], Made]

KINDS = ["portable", "with_stacktraces", "mutable", "multi_method", "dynamic", "xnnpack"]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("strip", [strip_stack_traces, strip_unused])
def test_runs_the_same(
    opened: Opened, made: Maker, kind: str, strip: Callable[[PTEFile], PTEFile]
) -> None:
    inputs = made(kind).inputs["forward"]
    stripped = strip(opened(kind))
    for calls in (1, 2):
        expected = run(made(kind).pte, inputs, calls=calls)
        assert_equal(run(proven(stripped), inputs, calls=calls), expected)
    assert strip(stripped).to_bytes() == stripped.to_bytes()
    assert len(stripped.to_bytes()) <= len(canonical(opened(kind)))


def test_stack_traces_are_gone(opened: Opened) -> None:
    file = opened("with_stacktraces")
    (chain,) = file.program.execution_plan[0].chains
    assert chain.stacktrace
    stripped = strip_stack_traces(file)
    assert stripped.program.execution_plan[0].chains[0].stacktrace is None
    assert chain.stacktrace
    assert len(stripped.to_bytes()) < len(canonical(file))


def wasteful() -> PTEFile:
    """Adds two inputs, and carries a lot that it never uses."""
    named = constant_tensor(2)
    assert isinstance(named.val, Tensor)
    named.val.extra_tensor_info = ExtraTensorInfo(fully_qualified_name="attribute")
    values = [float_tensor(0), float_tensor(16), EValue(Int(1)), float_tensor(32)]
    values += [constant_tensor(1), named, EValue(Int(7)), EValue(IntList([6, 6]))]
    plan = add_plan(values, [0, 1])
    plan.operators = [Operator("no::such_op", "out"), *plan.operators]
    plan.chains[0].instructions[0].instr_args.op_index = 1  # type: ignore[union-attr]
    return PTEFile(
        Program(execution_plan=[plan]),
        constants=[b"", b"unused constant!", b"named attribute!"],
        delegate_payloads=[b"unused payload"],
        named_data={"unused": NamedBlob(b"blob")},
    )


def test_only_what_nothing_uses_goes() -> None:
    stripped = strip_unused(wasteful())
    plan = stripped.program.execution_plan[0]
    assert [operator.name for operator in plan.operators] == ["aten::add"]
    assert len(plan.values) == 5
    assert list(map(bytes, stripped.constants)) == [b"", b"named attribute!"]
    assert not stripped.named_data
    (output,) = run(proven(stripped), [torch.ones(2, 2), torch.ones(2, 2)])
    assert torch.equal(output, torch.full((2, 2), 2.0))


def test_every_reference_counts() -> None:
    """Values that only lists, moves, jumps and frees refer to; -1 in a list is no value."""
    unused, used = EValue(Int(0)), [EValue(Int(n)) for n in range(1, 7)]
    lists = [EValue(IntList([1])), EValue(TensorList([2])), EValue(OptionalTensorList([-1, 3]))]
    plan = add_plan([unused, *used, *lists], [7, 8, 9])
    plan.outputs = [7]
    steps = [MoveCall(4, 5), JumpFalseCall(6, 0), FreeCall(5)]
    plan.chains = [Chain(instructions=[Instruction(step) for step in steps])]
    stripped = strip_unused(PTEFile(Program(execution_plan=[plan])))
    plan = stripped.program.execution_plan[0]
    assert plan.values == [
        *used,
        EValue(IntList([0])),
        EValue(TensorList([1])),
        EValue(OptionalTensorList([-1, 2])),
    ]
    assert (plan.inputs, plan.outputs) == ([6, 7, 8], [6])
    assert [step.instr_args for step in plan.chains[0].instructions] == [
        MoveCall(3, 4),
        JumpFalseCall(5, 0),
        FreeCall(4),
    ]


@pytest.mark.parametrize(
    ("args", "op_index", "message"),
    [([0, 99], 0, "refers to value 99 of 4"), ([0, 1], 5, "names operator 5 of 1")],
)
def test_references_to_nothing(args: list[int], op_index: int, message: str) -> None:
    plan = add_plan([float_tensor(0), float_tensor(16), EValue(Int(1)), float_tensor(32)], [0])
    call = plan.chains[0].instructions[0].instr_args
    call.args, call.op_index = args, op_index  # type: ignore[union-attr]
    with pytest.raises(FormatError, match=message):
        strip_unused(PTEFile(Program(execution_plan=[plan])))


def test_named_data_of_a_foreign_delegate_stays(opened: Opened) -> None:
    parts = opened("xnnpack").parts()
    parts.program.execution_plan[0].delegates[0].id = "SomeoneElsesBackend"
    file = PTEFile(**vars(parts))
    assert strip_unused(file).named_data.keys() == file.named_data.keys()


# Realigning


def test_segments(opened: Opened, made: Maker) -> None:
    for kind in ("xnnpack", "with_stacktraces", "mutable"):
        inputs = made(kind).inputs["forward"]
        data = proven(realign(opened(kind), segments=4096))
        again = program(data)
        assert all(segment.offset % 4096 == 0 for segment in again.program.segments)
        base = int.from_bytes(data[24:32], "little")
        assert base % 4096 == 0
        assert_equal(run(data, inputs), run(made(kind).pte, inputs))
        back = proven(realign(again, segments=128))
        assert content(program(back)) == content(opened(kind))


def test_constants(opened: Opened, made: Maker) -> None:
    data = proven(realign(opened("with_stacktraces"), tensors=256))
    offsets = program(data).program.constant_segment.offsets  # type: ignore[union-attr]
    assert len(offsets) == 5
    assert all(offset % 256 == 0 for offset in offsets)
    assert_equal(run(data, [X]), run(made("with_stacktraces").pte, [X]))
    packed = program(proven(realign(program(data), tensors=16)))
    assert packed.to_bytes() == canonical(opened("with_stacktraces"))


def test_named_data(opened: Opened) -> None:
    file = opened("xnnpack")
    first, *rest = file.named_data
    edited = program(proven(realign(file, named_data={first: 8192})))
    assert edited.named_data[first].alignment % 8192 == 0
    everything = program(proven(realign(file, named_data=1024)))
    assert all(blob.alignment % 1024 == 0 for blob in everything.named_data.values())
    assert rest


def test_nothing_asked_nothing_changed(opened: Opened) -> None:
    assert realign(opened("xnnpack")).to_bytes() == canonical(opened("xnnpack"))


@pytest.mark.parametrize("option", ["segments", "tensors", "named_data"])
@pytest.mark.parametrize("alignment", [0, -16, 3, 48])
def test_no_power_of_two(opened: Opened, option: str, alignment: int) -> None:
    with pytest.raises(UsageError, match=f"alignment {alignment} is not a power of two"):
        realign(opened("xnnpack"), **{option: alignment})  # type: ignore[arg-type]


@pytest.mark.parametrize("option", ["segments", "tensors"])
def test_too_small_for_a_runtime(opened: Opened, option: str) -> None:
    with pytest.raises(UsageError, match="alignment 8 is too small: runtimes need 16 at least"):
        realign(opened("xnnpack"), **{option: 8})  # type: ignore[arg-type]
    with pytest.raises(UsageError, match="too small"):
        PTEFile(Program(), constant_alignment=1)


@pytest.mark.parametrize("option", ["segments", "tensors", "named_data"])
def test_too_large(opened: Opened, option: str) -> None:
    with pytest.raises(UsageError, match="alignment 1073741824 is too large"):
        realign(opened("xnnpack"), **{option: 1 << 30})  # type: ignore[arg-type]


def test_unknown_key(opened: Opened) -> None:
    with pytest.raises(UsageError, match="no named data 'nothing'"):
        realign(opened("xnnpack"), named_data={"nothing": 16})
