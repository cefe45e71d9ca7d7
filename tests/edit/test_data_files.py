"""Data moved out of programs and back in, against ExecuTorch's own data files."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from pteron.edit import add_constant_methods, externalise, inline, replace_external, replace_named
from pteron.errors import UsageError
from pteron.files import NamedBlob, PTDFile, PTEFile
from pteron.files import open as open_file
from pteron.files.check import check
from pteron.schema.program import EValue, Int, Program, Tensor, TensorDataLocation
from tests.edit.proof import assert_equal, canonical, content, program, proven, run
from tests.files.made import Made, X, mlp
from tests.files.oracle import plain, their_file
from tests.files.programs import add_plan, constant_tensor, float_tensor

Opened = Callable[[str], PTEFile]
Maker = Callable[[str], Made]

COMPUTING = ["portable", "with_stacktraces", "dynamic", "mutable", "multi_method"]


def data_file(data: bytes) -> PTDFile:
    file = open_file(data)
    assert isinstance(file, PTDFile)
    assert check(file) == []
    return file


@pytest.mark.parametrize("kind", COMPUTING)
def test_out_and_in_again(opened: Opened, made: Maker, kind: str) -> None:
    file, inputs = opened(kind), made(kind).inputs["forward"]
    expected = run(made(kind).pte, inputs)
    outside, moved = externalise(file)
    pte, ptd = proven(outside), moved.to_bytes()
    assert list(map(len, outside.constants)) == [0]
    assert_equal(run(pte, inputs, ptd=ptd), expected)
    inside = inline(program(pte), data_file(ptd))
    assert_equal(run(proven(inside), inputs), expected)
    assert sorted(map(bytes, inside.constants)) == sorted(map(bytes, file.constants))
    assert file.to_bytes() == made(kind).pte


def test_as_executorch_moves_them_out(opened: Opened, made: Maker) -> None:
    """Field by field, given the names, which a program with its constants inside lacks."""
    theirs = made("external_constants")
    (their_ptd,) = theirs.data.values()
    inside = inline(program(theirs.pte), data_file(their_ptd))
    names = {
        value.val.data_buffer_idx: value.val.extra_tensor_info.fully_qualified_name
        for value in inside.program.execution_plan[0].values
        if isinstance(value.val, Tensor) and value.val.extra_tensor_info
    }
    parts = inside.parts()
    for value in parts.program.execution_plan[0].values:
        if isinstance(value.val, Tensor):
            value.val.extra_tensor_info = None
    ours, moved = externalise(PTEFile(**vars(parts)), names=names)
    assert plain(their_file(proven(ours)).program) == plain(their_file(theirs.pte).program)
    expected = data_file(their_ptd).named_data
    found = data_file(moved.to_bytes()).named_data
    assert found.keys() == expected.keys()
    for key, blob in found.items():
        assert bytes(blob.data) == bytes(expected[key].data)
        assert blob.tensor_layout == expected[key].tensor_layout


def test_foreign_pair(corpus: Path) -> None:
    """Its data file is of a format that ExecuTorch 1.5 cannot read any more."""
    outside, moved = (open_file(corpus / f"linear-external.{kind}") for kind in ("pte", "ptd"))
    assert isinstance(outside, PTEFile) and isinstance(moved, PTDFile)
    x = torch.linspace(-1, 1, 9).reshape(3, 3)
    weight, bias = (
        torch.from_numpy(np.frombuffer(moved.named_data[f"linear.{name}"].data, np.float32).copy())
        for name in ("weight", "bias")
    )
    expected = torch.nn.functional.linear(x, weight.reshape(3, 3), bias)
    inside = inline(outside, moved)
    (output,) = run(proven(inside), [x])
    assert torch.allclose(output, expected)
    again, moved_again = externalise(inside)
    (output,) = run(proven(again), [x], ptd=moved_again.to_bytes())
    assert torch.allclose(output, expected)
    assert moved_again.named_data.keys() == moved.named_data.keys()


def test_named_data_of_delegates(opened: Opened, made: Maker) -> None:
    outside, moved = externalise(opened("xnnpack"), named_data=True)
    pte, ptd = proven(outside), moved.to_bytes()
    assert not outside.named_data
    expected = run(made("xnnpack").pte, [X])
    assert_equal(run(pte, [X], ptd=ptd), expected)
    inside = inline(program(pte), data_file(ptd))
    assert content(inside) == content(opened("xnnpack"))
    assert_equal(run(proven(inside), [X]), expected)


def test_weights_that_xnnpack_keeps_outside(opened: Opened, made: Maker) -> None:
    (ptd,) = made("xnnpack_external").data.values()
    expected = run(made("xnnpack_external").pte, [X], ptd=ptd)
    assert_equal(run(proven(inline(opened("xnnpack_external"), data_file(ptd))), [X]), expected)


def test_small_constants_may_stay(opened: Opened) -> None:
    outside, moved = externalise(opened("with_stacktraces"), at_least=1000)
    assert sorted(map(len, outside.constants)) == [0, 32, 128]
    assert sorted(len(blob.data) for blob in moved.named_data.values()) == [1024, 2048]


def test_constant_methods_need_no_data_file(opened: Opened) -> None:
    table = np.arange(4, dtype=np.float32)
    file = add_constant_methods(opened("with_stacktraces"), {"get_table": table})
    outside, _ = externalise(file)
    (returned,) = run(proven(outside), method="get_table")
    assert np.array_equal(returned.numpy(), table)


def test_one_blob_of_two_layouts() -> None:
    """ExecuTorch stores equal bytes once, whatever tensors they belong to; names cannot."""
    values = [constant_tensor(1, (2, 2)), constant_tensor(1, (1, 4)), EValue(Int(1))]
    plan = add_plan([*values, float_tensor(32)], [])
    file = PTEFile(Program(execution_plan=[plan]), constants=[b"", bytes(16)])
    outside, moved = externalise(file)
    assert {
        key: blob.tensor_layout.sizes
        for key, blob in moved.named_data.items()
        if blob.tensor_layout
    } == {"constant_1": [2, 2], "constant_1_1": [1, 4]}
    assert len(moved.segments) == 1
    assert content(outside) != content(file)
    inside = inline(outside, moved)
    assert list(map(len, program(inside.to_bytes()).constants)) == [0, 16]


def test_a_name_for_two_constants(opened: Opened) -> None:
    with pytest.raises(UsageError, match="the name 'weights' is in use already"):
        externalise(opened("with_stacktraces"), names=dict.fromkeys(range(1, 5), "weights"))


def test_nothing_to_move(opened: Opened) -> None:
    with pytest.raises(UsageError, match="no data to move out"):
        externalise(opened("xnnpack"))


def test_missing_and_misfit_data(opened: Opened, made: Maker) -> None:
    file = opened("external_constants")
    (data,) = map(data_file, made("external_constants").data.values())
    with pytest.raises(UsageError, match=r"no data file holds 0\.bias, 0\.weight, "):
        inline(file)
    blobs = data.named_data
    blobs["0.bias"] = blobs["2.bias"]
    with pytest.raises(UsageError, match=r"the data for '0\.bias' has another dtype, shape"):
        inline(file, PTDFile(blobs))
    with pytest.raises(UsageError, match=r"data for '0\.bias' is given twice, and differs"):
        inline(file, data, PTDFile(blobs))


def test_mutable_tensors_begin_inside_again(opened: Opened, made: Maker) -> None:
    """A first value in a data file, as ExecuTorch can have it too."""
    parts = opened("mutable").parts()
    (total,) = (
        value.val
        for value in parts.program.execution_plan[0].values
        if isinstance(value.val, Tensor) and value.val.allocation_info and value.val.data_buffer_idx
    )
    assert total.extra_tensor_info is not None
    total.extra_tensor_info.location = TensorDataLocation.EXTERNAL
    first = NamedBlob(parts.mutable_data[0][total.data_buffer_idx])
    parts.mutable_data = []
    inside = inline(PTEFile(**vars(parts)), PTDFile({"total": first}))
    assert content(inside) == content(opened("mutable"))


# Replacing


def test_replaced_in_the_data_file(opened: Opened, made: Maker) -> None:
    (data,) = map(data_file, made("external_constants").data.values())
    weights = {name: -tensor.numpy() for name, tensor in mlp().state_dict().items()}
    edited = data
    for name, array in weights.items():
        edited = replace_external(edited, name, array)
    model = mlp()
    model.load_state_dict({name: torch.as_tensor(array) for name, array in weights.items()})
    pte = made("external_constants").pte
    (output,) = run(pte, [X], ptd=data_file(edited.to_bytes()).to_bytes())
    assert torch.allclose(output, model(X), atol=1e-6)
    before = {key: blob.alignment for key, blob in data.named_data.items()}
    after = {key: blob.alignment for key, blob in edited.named_data.items()}
    assert all(after[key] % 16 == 0 for key in before)


def test_replaced_in_the_program(opened: Opened, made: Maker) -> None:
    """XNNPACK looks its weights up in named data; all of them doubled, so is the output's part."""
    file = edited = opened("xnnpack")
    for key, blob in file.named_data.items():
        if len(blob.data) == 32:  # the last bias
            bias = np.frombuffer(blob.data, np.float32) + 1
            edited = replace_named(edited, key, bias)
    (before,), (after,) = run(made("xnnpack").pte, [X]), run(proven(edited), [X])
    assert torch.allclose(after, before + 1)
    assert replace_named(file, key, blob.data).to_bytes() == canonical(file)


def test_replaced_by_what_does_not_fit(opened: Opened, made: Maker) -> None:
    file = opened("xnnpack")
    key = next(iter(file.named_data))
    with pytest.raises(UsageError, match=r"has 2048 bytes; the new data has 4"):
        replace_named(file, key, np.zeros(1, np.float32))
    assert bytes(replace_named(file, key, b"raw").named_data[key].data) == b"raw"
    with pytest.raises(UsageError, match=f"no named data 'nothing'; there is: {key}"):
        replace_named(file, "nothing", b"")
    (data,) = map(data_file, made("external_constants").data.values())
    with pytest.raises(UsageError, match=r"is float32\[32\]; the array is float32\[31\]"):
        replace_external(data, "0.bias", np.zeros(31, np.float32))
    with pytest.raises(UsageError, match="has 128 bytes; the new data has 3"):
        replace_external(data, "0.bias", b"raw")
