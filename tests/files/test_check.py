"""Every family of checks finds what is wrong, and only that."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from pteron.files import BundledFile, NamedBlob, PTDFile, PTEFile
from pteron.files import open as open_file
from pteron.files.check import check
from pteron.files.check.finding import Severity
from pteron.schema import bundled
from pteron.schema.flat_tensor import TensorLayout
from pteron.schema.program import (
    ExecutionPlan,
    Instruction,
    IntList,
    JumpFalseCall,
    KernelCall,
    NamedData,
    Operator,
    Program,
    ScalarType,
    Tensor,
    TensorList,
)
from tests.files.programs import add_constant_program, add_program, busy_program

Spoil = Callable[[PTEFile], object]


def first_plan(file: PTEFile) -> ExecutionPlan:
    return file.program.execution_plan[0]


def tensor(file: PTEFile, index: int) -> Tensor:
    value = first_plan(file).values[index].val
    assert isinstance(value, Tensor)
    return value


def calls(file: PTEFile) -> list[Instruction]:
    return first_plan(file).chains[0].instructions


def set_field(path: str, value: object) -> Spoil:
    """``set_field("execution_plan[0].inputs", [9])``."""

    def spoil(file: PTEFile) -> None:
        owner, _, name = path.rpartition(".")
        target = eval(f"p.{owner}" if owner else "p", {"p": file.program})
        setattr(target, name, value)

    return spoil


def test_sound_files() -> None:
    for file in (add_program(), add_constant_program([b"", bytes(16)])):
        assert check(file) == []
        assert check(open_file(file.to_bytes())) == []


VALUE = "execution_plan[0].values"
STEP = "execution_plan[0].chains[0].instructions[0].instr_args"


@pytest.mark.parametrize(
    ("spoil", "where", "message"),
    [
        (set_field("execution_plan[0].inputs", [0, 99]), "inputs[1]", "value 99 of 4"),
        (set_field("execution_plan[0].outputs", [-1]), "outputs[0]", "value -1 of 4"),
        (set_field(f"{STEP}.op_index", 1), "op_index", "operator 1 of 1"),
        (set_field(f"{STEP}.args", [0, 7]), "args[1]", "value 7 of 4"),
        (set_field("execution_plan[0].chains", []), "chains", "no instructions"),
        (set_field(f"{VALUE}[2].val", None), "values[2].val", "has no type"),
        (set_field(f"{VALUE}[2].val", IntList([0])), "items[0]", "is a Tensor, not a Int"),
        (set_field(f"{VALUE}[2].val", TensorList([8])), "items[0]", "value 8 of 4"),
        (
            set_field("execution_plan[0].chains[0].instructions[0].instr_args", None),
            "instr_args",
            "has no type",
        ),
        (
            set_field(STEP, JumpFalseCall(2, 5)),
            "destination",
            "instruction 5 of 2",
        ),
        (set_field(STEP, JumpFalseCall(2, 0)), "cond_value_index", "is a Int, not a Bool"),
        (set_field(f"{VALUE}[0].val.sizes", [2, -2]), "val.sizes", "negative"),
        (set_field(f"{VALUE}[0].val.dim_order", [0, 0]), "val.dim_order", "is not an order"),
        (set_field(f"{VALUE}[0].val.scalar_type", 99), "val.scalar_type", "unknown"),
        (set_field(f"{VALUE}[0].val.storage_offset", 3), "storage_offset", "is 3"),
        (set_field(f"{VALUE}[0].val.data_buffer_idx", 4), "data_buffer_idx", "no mutable data"),
        (set_field(f"{VALUE}[0].val.sizes", [99, 99]), "allocation_info", "ends at 39204"),
        (
            set_field(f"{VALUE}[0].val.allocation_info.memory_id", 5),
            "allocation_info",
            "planned buffer 5 of 2",
        ),
        (
            set_field(f"{VALUE}[3].val.allocation_info.memory_offset_low", 8),
            "allocation_info",
            "are written by instruction 0 while value",
        ),
        (set_field("execution_plan[0].non_const_buffer_sizes", [0, -1]), "sizes[1]", "negative"),
        (
            set_field("constant_segment.segment_index", 7),
            "constant_segment.segment_index",
            "segment 7 of 1",
        ),
        (set_field("constant_segment.offsets", [0, 1]), "offsets[1]", "is past its segment"),
        (
            set_field("named_data", [NamedData("a", 3)]),
            "named_data[0].segment_index",
            "segment 3 of 1",
        ),
    ],
)
def test_wrong_programs(spoil: Spoil, where: str, message: str) -> None:
    file = add_program()
    spoil(file)
    found = [str(finding) for finding in check(file)]
    assert any(where in text and message in text for text in found), found


def test_all_findings_are_listed() -> None:
    file = add_program()
    first_plan(file).inputs = [50, 51]
    first_plan(file).outputs = [52]
    tensor(file, 0).storage_offset = 1
    assert len([f for f in check(file) if f.severity is Severity.ERROR]) == 4


def test_very_many_findings_are_cut() -> None:
    file = add_program()
    first_plan(file).inputs = [99] * 10_000
    found = check(file)
    assert len(found) < 300 and "more than 200" in found[-1].message


def test_duplicate_names() -> None:
    file = busy_program()
    file.program.execution_plan.append(file.program.execution_plan[0])
    file.program.named_data = [NamedData("same", 0), NamedData("same", 0)]
    found = [str(finding) for finding in check(file)]
    assert any("execution_plan[1].name: 'forward' is also execution_plan[0]" in f for f in found)
    assert any("named_data[1].key: 'same' is also named_data[0]" in f for f in found)


def test_overlapping_and_misaligned_segments() -> None:
    file = busy_program()
    file.program.segments[3].offset = file.program.segments[2].offset + 8
    found = [str(finding) for finding in check(file)]
    assert any("segments[3]: overlaps segments[2]" in text for text in found)
    assert any("segments[3]: offset" in t and "not a multiple of 16" in t for t in found)


def test_shared_and_unused_payloads() -> None:
    file = busy_program()
    one, other = first_plan(file).delegates
    other.processed = one.processed
    found = [str(finding) for finding in check(file)]
    assert any(
        "note: execution_plan[0].delegates[1].processed: shares its payload" in t for t in found
    )
    assert any("no instruction calls this 'OtherBackend'" in text for text in found)
    assert any("nothing refers to its 5 bytes" in text for text in found)


def test_memory_plan_with_lifetimes() -> None:
    """``a = x + x; b = a + a; y = b + b``: y may take a's place, b may not."""

    def planned(*offsets: int) -> list[str]:
        values = [add_program().program.execution_plan[0].values[0] for _ in offsets]
        plan = ExecutionPlan(
            name="forward",
            values=[*values, add_program().program.execution_plan[0].values[2]],
            inputs=[0],
            outputs=[3],
            operators=[Operator("aten::add", "out")],
            non_const_buffer_sizes=[0, 256],
        )
        for value, offset in zip(values, offsets, strict=True):
            assert isinstance(value.val, Tensor) and value.val.allocation_info is not None
            value.val.allocation_info.memory_offset_low = offset
        plan.chains = add_program().program.execution_plan[0].chains
        plan.chains[0].instructions = [
            Instruction(KernelCall(0, [i, i, 4, i + 1, i + 1])) for i in range(3)
        ]
        return [str(f) for f in check(PTEFile(Program(execution_plan=[plan])))]

    assert planned(0, 16, 32, 48) == []
    assert planned(0, 16, 32, 16) == []
    assert planned(0, 16, 0, 16) == []
    assert "values[2]" in planned(0, 16, 24, 64)[0]
    assert "written by instruction 2 while value 2" in planned(0, 16, 32, 40)[0]


def test_undecodable_tables_are_all_listed() -> None:
    data = bytearray(busy_program().to_bytes())
    for name in (b"OneBackend", b"model.py"):
        data[data.index(name)] = 0xFF
    found = [str(finding) for finding in check(open_file(bytes(data)))]
    assert any("delegates[0].id: string is not UTF-8" in text for text in found)
    assert any("stacktrace[4].items[0].filename: string is not UTF-8" in text for text in found)


def test_data_files() -> None:
    layout = TensorLayout(ScalarType.FLOAT, [3], [1])
    file = PTDFile({"a": NamedBlob(bytes(16), 16, layout), "b": NamedBlob(b"x")})
    file.flat_tensor.named_data[1].key = "a"
    file.flat_tensor.named_data[1].segment_index = 9
    found = [str(finding) for finding in check(file)]
    assert any("tensor_layout.sizes: [3] does not fill 16 bytes" in text for text in found)
    assert any("tensor_layout.dim_order" in text for text in found)
    assert any("named_data[1].key: 'a' is also" in text for text in found)
    assert any("segment 9 of 2" in text for text in found)
    assert any("nothing refers to its 1 bytes" in text for text in found)


def case(*sizes: list[int], dtype: ScalarType = ScalarType.FLOAT) -> bundled.BundledMethodTestCase:
    def value(shape: list[int]) -> bundled.Value:
        count = shape[0] * shape[1]
        return bundled.Value(bundled.Tensor(dtype, shape, bytes(4 * count), [0, 1]))

    return bundled.BundledMethodTestCase([value(s) for s in sizes], [value([2, 2])])


@pytest.mark.parametrize(
    ("suite", "message"),
    [
        (bundled.BundledMethodTestSuite("forward", [case([2, 2], [2, 2])]), ""),
        (bundled.BundledMethodTestSuite("other", [case([2, 2])]), "there is no method 'other'"),
        (bundled.BundledMethodTestSuite("forward", [case([2, 2])]), "1 values for 2"),
        (
            bundled.BundledMethodTestSuite("forward", [case([2, 2], [1, 2])]),
            "[1, 2] does not fit [2, 2]",
        ),
        (
            bundled.BundledMethodTestSuite("forward", [case([2, 2], [2, 2], dtype=ScalarType.INT)]),
            "int32 for float32",
        ),
    ],
)
def test_bundles(suite: bundled.BundledMethodTestSuite, message: str) -> None:
    found = [str(finding) for finding in check(BundledFile(add_program(), [suite]))]
    assert any(message in text for text in found) if message else found == []


def test_programs_in_bundles_are_checked() -> None:
    pte = add_program()
    first_plan(pte).inputs = [9]
    (found,) = [f for f in check(BundledFile(pte)) if f.severity is Severity.ERROR]
    assert found.where == "program.execution_plan[0].inputs[0]"


def test_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import json

    from click.testing import CliRunner

    from pteron.cli.app import app

    good, bad = tmp_path / "good.pte", tmp_path / "bad.pte"
    add_program().save(good)
    broken = add_program()
    first_plan(broken).inputs = [9]
    broken.save(bad)
    run = CliRunner().invoke
    assert run(app, ["check", str(good)]).exit_code == 0
    result = run(app, ["check", str(bad), "--json"])
    assert result.exit_code == 1
    answer = json.loads(result.stdout)
    assert answer["valid"] is False
    assert answer["findings"][0] == {
        "severity": "error",
        "where": "execution_plan[0].inputs[0]",
        "message": "value 9 of 4",
    }
    bad.write_bytes(b"not a program at all")
    assert run(app, ["check", str(bad)]).exit_code == 1


@pytest.mark.parametrize("backend", ["CoreMLBackend", "XnnpackBackend"])
def test_a_payload_that_its_reader_refuses(backend: str) -> None:
    parts = busy_program().parts()
    parts.program.execution_plan[0].delegates[0].id = backend
    (found,) = [f for f in check(PTEFile(**vars(parts))) if f.severity is Severity.ERROR]
    assert found.where == "execution_plan[0].delegates[0]"
    assert found.message.startswith(f"payload of 'forward', {backend}: ")
