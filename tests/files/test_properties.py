"""Properties of generated programs."""

from __future__ import annotations

from typing import Any

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pteron.files import NamedBlob, PTDFile, PTEFile
from pteron.files import open as open_file
from pteron.flatbuf import Reader, Table, differ, encode
from pteron.flatbuf.declare import Blob, Number, Numbers, Scalar, String, Subtable, Tables, Union
from pteron.flatbuf.table import Slot, slots_of
from pteron.schema import bundled, flat_tensor, program
from pteron.schema.program import BackendDelegate, BackendDelegateDataReference, ExecutionPlan

QUICK = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck))

_RANGES = {"b": 7, "i": 31, "q": 63}


def numbers(scalar: Scalar) -> st.SearchStrategy[Any]:
    if scalar.code == "?":
        return st.booleans()
    if scalar.code == "d":
        return st.floats()
    bits = _RANGES.get(scalar.code)
    if bits is not None:
        return st.integers(-(1 << bits), (1 << bits) - 1)
    return st.integers(0, (1 << 8 * scalar.size) - 1)


def values(slot: Slot) -> st.SearchStrategy[Any]:
    kind, required = slot.declared.type, slot.declared.required
    if isinstance(kind, Number):
        return (
            st.sampled_from(list(kind.members.values())) if kind.members else numbers(kind.scalar)
        )
    if isinstance(kind, String):
        text = st.text(max_size=12)
        return text if slot.declared.default == "" else st.none() | text
    if isinstance(kind, Blob):
        return st.binary(max_size=40)
    if isinstance(kind, Numbers):
        return st.lists(numbers(kind.scalar), max_size=10)
    if isinstance(kind, Subtable):
        return tables(kind.table) if required else st.none() | tables(kind.table)
    if isinstance(kind, Union):
        return st.none() | st.one_of(*map(tables, kind.tables))
    assert isinstance(kind, Tables)
    items = st.lists(tables(kind.table), max_size=3)
    return items if slot.declared.default is list else st.none() | items


def tables(table: type[Table]) -> st.SearchStrategy[Any]:
    """Any table of a class, with anything in its fields."""
    return st.deferred(
        lambda: st.builds(table, **{slot.name: values(slot) for slot in slots_of(table)})
    )


def assert_round_trip(root: Table) -> None:
    data = b"".join(encode(root, b"ABCD").pieces)
    read = Reader(memoryview(data)).root(type(root))
    assert not differ(root, read) and not differ(read, root)
    assert b"".join(encode(read, b"ABCD").pieces) == data


@QUICK
@given(tables(program.Program))
def test_programs_round_trip(root: program.Program) -> None:
    assert_round_trip(root)


@QUICK
@given(tables(bundled.BundledProgram))
def test_bundles_round_trip(root: bundled.BundledProgram) -> None:
    assert_round_trip(root)


@QUICK
@given(tables(flat_tensor.FlatTensor))
def test_data_files_round_trip(root: flat_tensor.FlatTensor) -> None:
    assert_round_trip(root)


blobs = st.binary(max_size=200)
named = st.builds(NamedBlob, blobs, st.sampled_from([1, 16, 64, 1024]))
alignments = st.sampled_from([1, 16, 128, 4096])


@QUICK
@given(
    st.lists(blobs, max_size=4),
    st.dictionaries(st.text(max_size=8), named, max_size=4),
    alignments,
    st.booleans(),
    tables(ExecutionPlan),
)
def test_files_keep_every_blob(
    payloads: list[bytes],
    blobs_by_name: dict[str, NamedBlob],
    alignment: int,
    inline: bool,
    plan: ExecutionPlan,
) -> None:
    for value in plan.values:
        if isinstance(value.val, program.Tensor):
            value.val.data_buffer_idx = 0
    plan.delegates = [
        BackendDelegate("b", BackendDelegateDataReference(index=i)) for i in range(len(payloads))
    ]
    file = PTEFile(
        program.Program(execution_plan=[plan]),
        delegate_payloads=payloads,
        named_data=blobs_by_name,
        segment_alignment=alignment,
        inline_delegates=inline,
    )
    data = file.to_bytes()
    again = open_file(data)
    assert isinstance(again, PTEFile)
    assert [bytes(delegate.payload) for delegate in again.delegates] == payloads
    found = again.named_data
    assert {key: bytes(blob.data) for key, blob in found.items()} == {
        key: blob.data for key, blob in blobs_by_name.items()
    }
    placed = any(segment.size for segment in again.program.segments)
    for key, blob in blobs_by_name.items():
        # A file without a byte of segment data has no segment base, and so nowhere to align.
        assert not placed or found[key].alignment % blob.alignment == 0
    assert b"".join(again._encode()) == data
    assert PTEFile(**vars(again.parts())).to_bytes() == data


@QUICK
@given(st.dictionaries(st.text(min_size=1, max_size=8), named, max_size=5), alignments)
def test_data_files_keep_every_blob(blobs_by_name: dict[str, NamedBlob], alignment: int) -> None:
    data = PTDFile(blobs_by_name, segment_alignment=alignment).to_bytes()
    again = open_file(data)
    assert isinstance(again, PTDFile)
    assert {key: bytes(blob.data) for key, blob in again.named_data.items()} == {
        key: blob.data for key, blob in blobs_by_name.items()
    }
    assert b"".join(again._encode()) == data
