"""Files from objects: what goes where, what is shared, and what is refused."""

from __future__ import annotations

from typing import Any

import pytest

from pteron.errors import UsageError
from pteron.files import NamedBlob, PTEFile
from pteron.files import open as open_file
from pteron.schema.program import (
    BackendDelegate,
    BackendDelegateDataReference,
    DataLocation,
    ExecutionPlan,
    Program,
    Tensor,
)
from tests.files.programs import (
    add_constant_program,
    busy_program,
    constant_tensor,
    float_tensor,
    mutable_tensor,
)


def reopened(file: PTEFile) -> PTEFile:
    again = open_file(file.to_bytes())
    assert isinstance(again, PTEFile)
    return again


def plan(*values: Any, payloads: int = 0) -> ExecutionPlan:
    delegates = [
        BackendDelegate("B", BackendDelegateDataReference(index=i)) for i in range(payloads)
    ]
    return ExecutionPlan(name="forward", values=list(values), delegates=delegates)


def tensors(file: PTEFile) -> list[Tensor]:
    values = [value.val for value in file.program.execution_plan[0].values]
    return [value for value in values if isinstance(value, Tensor)]


def test_blobs_come_back() -> None:
    file = reopened(busy_program())
    assert [bytes(blob) for blob in file.constants] == [b"", bytes(16)]
    assert [bytes(blob) for blob in file.mutable_data] == [b"", bytes(range(16))]
    assert [bytes(d.payload) for d in file.delegates] == [b"payload " * 20, b"other"]
    assert [d.backend_id for d in file.delegates] == ["OneBackend", "OtherBackend"]
    assert dict(file.delegates[0].compile_specs) == {"precision": b"f16", "target": b""}
    assert {key: bytes(blob.data) for key, blob in file.named_data.items()} == {
        "one": b"1" * 33,
        "two": b"2",
    }


def test_in_memory_reads_as_reopened() -> None:
    built = busy_program()
    assert [bytes(b) for b in built.constants] == [bytes(b) for b in reopened(built).constants]
    assert built.program == reopened(built).program
    assert built.unknown_fields == [] and built.path is None


def test_data_of_tensors() -> None:
    file = reopened(busy_program())
    data = [file.data_of(tensor) for tensor in tensors(file)]
    found = [bytes(blob) if blob is not None else None for blob in data]
    assert found == [None, bytes(16), None, bytes(range(16)), None]


def test_the_given_program_stays_as_it_is() -> None:
    program = Program(execution_plan=[plan(payloads=1)])
    PTEFile(program, delegate_payloads=[b"payload"])
    assert program == Program(execution_plan=[plan(payloads=1)])


def test_equal_constants_are_stored_once() -> None:
    one, two = bytes(range(16)), bytes(16)
    values = [constant_tensor(i) for i in (1, 2, 3, 4)]
    program = Program(execution_plan=[plan(*values)])
    file = reopened(PTEFile(program, constants=[b"", one, two, one, two]))
    assert [bytes(blob) for blob in file.constants] == [b"", one, two]
    assert [tensor.data_buffer_idx for tensor in tensors(file)] == [1, 2, 1, 2]


def test_equal_payloads_and_named_data_share_segments() -> None:
    program = Program(execution_plan=[plan(payloads=3)])
    named = {"a": NamedBlob(b"same", 16), "b": NamedBlob(b"same", 64), "c": NamedBlob(b"other")}
    file = reopened(PTEFile(program, delegate_payloads=[b"p", b"q", b"p"], named_data=named))
    assert [bytes(d.payload) for d in file.delegates] == [b"p", b"q", b"p"]
    assert [segment.size for segment in file.segments] == [0, 1, 1, 4, 5]
    assert file.named_data["a"].alignment % 64 == 0


def test_several_mutable_segments() -> None:
    first, second = mutable_tensor(1, "a"), mutable_tensor(2, "b")
    assert isinstance(second.val, Tensor) and second.val.extra_tensor_info is not None
    second.val.extra_tensor_info.mutable_data_segments_idx = 1
    groups = [[b"", b"a" * 16], [b"", b"-" * 16, b"b" * 16]]
    program = Program(execution_plan=[plan(first, second)])
    file = reopened(PTEFile(program, mutable_data=groups))
    assert len(file.program.mutable_data_segments or []) == 2
    assert [bytes(file.data_of(t) or b"") for t in tensors(file)] == [b"a" * 16, b"b" * 16]
    assert [[bytes(blob) for blob in group] for group in file.parts().mutable_data] == groups
    assert PTEFile(**vars(file.parts())).to_bytes() == file.to_bytes()


def test_inline() -> None:
    program = Program(execution_plan=[plan(constant_tensor(1), payloads=1)])
    file = reopened(
        PTEFile(
            program,
            constants=[b"", bytes(16)],
            delegate_payloads=[b"payload"],
            inline_constants=True,
            inline_delegates=True,
        )
    )
    assert file.program.segments == [] and file.program.constant_segment is None
    assert bytes(file.delegates[0].payload) == b"payload"
    assert bytes(file.data_of(tensors(file)[0]) or b"") == bytes(16)
    parts = file.parts()
    assert parts.inline_constants and parts.inline_delegates
    assert PTEFile(**vars(parts)).to_bytes() == file.to_bytes()


@pytest.mark.parametrize("alignment", [16, 128, 4096])
def test_alignments(alignment: int) -> None:
    blob = NamedBlob(b"x" * 100, 1024)
    program = Program(execution_plan=[plan(payloads=2)])
    file = reopened(
        PTEFile(
            program,
            delegate_payloads=[b"p" * 3, b"q" * 5],
            named_data={"blob": blob},
            segment_alignment=alignment,
        )
    )
    for entry in file.program.segments:
        assert (file.segment_base + entry.offset) % alignment == 0
    last = file.program.segments[-1].offset
    assert (file.segment_base + last) % 1024 == 0
    assert file.named_data["blob"].alignment % max(alignment, 1024) == 0


def test_alignments_survive_an_edit() -> None:
    file = reopened(busy_program())
    before = [segment.alignment for segment in file.segments]
    file.program.execution_plan[0].name = "a name that is longer than the one that was there" * 9
    again = reopened(file)
    for entry, alignment in zip(again.program.segments, before, strict=True):
        assert entry.offset % alignment == 0
    assert again.named_data["one"].alignment % 64 == 0


def test_constant_alignment() -> None:
    constants = [b"", bytes(16), b"1" * 16, b"2" * 16]
    file = reopened(add_constant_program(constants, constant_alignment=64))
    assert file.program.constant_segment is not None
    assert file.program.constant_segment.offsets == [0, 0, 64, 128]
    assert file.parts().constant_alignment == 64


def test_buffers_of_any_kind() -> None:
    numpy = pytest.importorskip("numpy")
    weights = numpy.arange(4, dtype="float32").reshape(2, 2)
    file = reopened(add_constant_program([b"", weights]))
    assert bytes(file.constants[1]) == weights.tobytes()


def refused(match: str, program: Program, **options: Any) -> None:
    with pytest.raises(UsageError, match=match):
        PTEFile(program, **options)


def test_wrong_indices_are_refused() -> None:
    constant = Program(execution_plan=[plan(constant_tensor(2))])
    refused(r"constants\[2\], but there are 2", constant, constants=[b"", b"x"])
    mutable = Program(execution_plan=[plan(mutable_tensor(1, "x"))])
    refused("mutable data segment 0, of 0", mutable)
    refused(r"mutable_data\[1\], but there are 1", mutable, mutable_data=[b""])
    delegate = Program(execution_plan=[plan(payloads=2)])
    refused(r"delegate_payloads\[1\]", delegate, delegate_payloads=[b"x"])
    delegate.execution_plan[0].delegates[0].processed.location = DataLocation.SEGMENT
    refused("processed.location INLINE", delegate, delegate_payloads=[b"x", b"y"])
    refused("alignment 3 is not a power of two", Program(), segment_alignment=3)
    refused("alignment 0 is not", Program(), named_data={"x": NamedBlob(b"x", 0)})
    refused("a str cannot be stored", Program(), named_data={"x": NamedBlob("x")})  # type: ignore[arg-type]
    refused("a list cannot be stored", Program(), constants=[[1, 2]])


def test_wrong_types_are_refused() -> None:
    refused("program must be a Program, not a NoneType", None)
    refused("constants must be a Sequence, not a int", Program(), constants=5)
    refused("mutable_data must be a Sequence, not a int", Program(), mutable_data=5)
    refused("delegate_payloads must be a Sequence", Program(), delegate_payloads=None)
    refused("named_data must be a Mapping", Program(), named_data=[b"x"])
    refused(
        r"named_data\['x'\] must be a NamedBlob, not a bytes", Program(), named_data={"x": b"x"}
    )


@pytest.mark.parametrize("value", [None, 5, [None]])
def test_a_table_of_the_wrong_type_is_not_saved(value: object) -> None:
    file = PTEFile(Program())
    file.program.execution_plan = value  # type: ignore[assignment]
    with pytest.raises(UsageError, match="execution_plan"):
        file.to_bytes()


def test_method_views() -> None:
    file = reopened(busy_program())
    method = file.methods["forward"]
    (given,), (got,) = method.inputs, method.outputs
    assert (given.name, given.kind, given.shape) == ("input_0", "Tensor", (2, 2))
    assert given.dtype is not None and given.dtype.name == "FLOAT"
    assert given.dim_order == (0, 1) and given.dynamism == 0
    assert got.name == "output_0" and got.index == 3
    named = plan(mutable_tensor(0, "x.y"), float_tensor(0))
    named.inputs = [0]
    assert PTEFile(Program(execution_plan=[named])).methods["forward"].inputs[0].name == "x.y"
