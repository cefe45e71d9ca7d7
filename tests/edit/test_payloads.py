"""Payloads of delegates replaced and stripped, and run."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from executorch.backends.apple.coreml import executorchcoreml
from torch.export import export

import pteron
from pteron.edit import (
    drop,
    merge,
    rename,
    replace_coreml,
    replace_payload,
    strip_payload_debug_info,
)
from pteron.errors import FileAccessError, FormatError, UnsupportedError, UsageError
from pteron.files import PTEFile
from pteron.payloads.coreml.memfs import read_image, unflatten
from pteron.payloads.coreml.metadata import read_metadata
from tests.edit.proof import assert_equal, content, program, proven, run
from tests.files.made import Made, X, _core_ml, mlp

Opened = Callable[[str], PTEFile]
Maker = Callable[[str], Made]
DEBUG = {"debug_info.json", "model.mlpackage/executorch_debug_handle_mapping.json"}


def unpacked(payload: bytes | memoryview, directory: Path) -> Path:
    """The package in a payload as a directory, unpacked by ExecuTorch's own code."""
    directory.mkdir(exist_ok=True)
    assert executorchcoreml.unflatten_directory_contents(bytes(payload), str(directory))
    (package,) = directory.glob("**/*.mlpackage")
    return package


def in_pteron(file: PTEFile, x: torch.Tensor, method: str = "forward") -> torch.Tensor:
    with pteron.load(file, cache=None) as module:
        return torch.as_tensor(np.asarray(module.method(method)(x.numpy())[0]))


@pytest.fixture(scope="module")
def other_model() -> torch.nn.Module:
    model = mlp()
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.mul_(-0.5)
    return model


@pytest.fixture(scope="module")
def other_core_ml(other_model: torch.nn.Module) -> PTEFile:
    return program(_core_ml(export(other_model, (X,))).pte)


def test_another_model(
    opened: Opened, other_core_ml: PTEFile, other_model: torch.nn.Module, tmp_path: Path
) -> None:
    file = opened("core_ml")
    package = unpacked(other_core_ml.delegates[0].payload, tmp_path / "package")
    edited = program(proven(replace_coreml(file, "forward", 0, package)))
    assert torch.allclose(in_pteron(edited, X), other_model(X), atol=5e-3)
    assert not torch.allclose(in_pteron(file, X), other_model(X), atol=5e-2)
    before, after = (
        read_metadata(read_image(f.delegates[0].payload).files["metadata.json"])
        for f in (file, edited)
    )
    assert after.names == before.names
    assert after.identifier not in ("", before.identifier)
    again = unpacked(edited.delegates[0].payload, tmp_path / "again")
    for path in package.rglob("*"):
        if path.is_file():
            assert (again / path.relative_to(package)).read_bytes() == path.read_bytes()
    assert replace_coreml(edited, "forward", 0, package).to_bytes() == edited.to_bytes()


def test_a_model_shared_by_methods(opened: Opened, tmp_path: Path) -> None:
    file = opened("core_ml_multifunction")
    ((key, blob),) = file.named_data.items()
    package = unpacked(bytes(blob.data), tmp_path)
    edited = program(proven(replace_coreml(file, "prefill", 0, package)))
    assert [d.payload for d in edited.delegates] == [d.payload for d in file.delegates]
    old, new = (
        read_metadata(read_image(f.named_data[key].data).files["metadata.json"])
        for f in (file, edited)
    )
    assert new.methods == old.methods
    assert new.identifier != old.identifier
    assert torch.equal(in_pteron(edited, X, "decode"), in_pteron(file, X, "decode"))


def test_a_shared_model_stays_while_a_method_uses_it(opened: Opened) -> None:
    file = opened("core_ml_multifunction")
    left = drop(file, ["decode"])
    assert left.named_data.keys() == file.named_data.keys()
    longer = X.repeat(4, 1)
    assert torch.equal(in_pteron(left, longer, "prefill"), in_pteron(file, longer, "prefill"))
    both = merge(left, opened("xnnpack"))
    assert drop(both, ["prefill"]).named_data.keys() == opened("xnnpack").named_data.keys()
    assert drop(both, ["forward"]).named_data.keys() == file.named_data.keys()


def test_a_state_the_program_names(counter_program: Path, tmp_path: Path) -> None:
    with pteron.open(counter_program) as file:
        assert isinstance(file, PTEFile)
        package = unpacked(file.delegates[0].payload, tmp_path)
        same = replace_coreml(file, "forward", 0, package)
        assert torch.equal(in_pteron(same, torch.ones(1, 4)), torch.full((1, 4), 2.0))
        parts = file.parts()
        for spec in parts.program.execution_plan[0].delegates[0].compile_specs:
            if spec.key == "pteron.states":
                spec.value = bytes(spec.value).replace(
                    b'"payload_name": "total"', b'"payload_name": "sum"'
                )
        with pytest.raises(UsageError, match="the model has no state 'sum'"):
            replace_coreml(PTEFile(**vars(parts)), "forward", 0, package)


def test_a_model_of_other_names(opened: Opened, counter_program: Path, tmp_path: Path) -> None:
    with pteron.open(counter_program) as counter:
        assert isinstance(counter, PTEFile)
        package = unpacked(counter.delegates[0].payload, tmp_path)
    with pytest.raises(UsageError, match="has inputs x; the delegate calls it with input_1"):
        replace_coreml(opened("core_ml"), "forward", 0, package)
    with pytest.raises(UsageError, match="the model has no function 'decode'"):
        replace_coreml(opened("core_ml_multifunction"), "decode", 0, package)


def test_what_is_no_package(opened: Opened, tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match="is not a directory"):
        replace_coreml(opened("core_ml"), "forward", 0, tmp_path / "nothing.mlpackage")
    with pytest.raises(FormatError, match=r"has no file 'model\.mlpackage/Manifest\.json'"):
        replace_coreml(opened("core_ml"), "forward", 0, tmp_path)
    with pytest.raises(UnsupportedError, match="is of XnnpackBackend, not CoreMLBackend"):
        replace_coreml(opened("xnnpack"), "forward", 0, tmp_path)


def test_debug_information_goes(opened: Opened, tmp_path: Path) -> None:
    file = opened("core_ml")
    before = unflatten(file.delegates[0].payload)
    assert before.keys() >= DEBUG
    stripped = program(proven(strip_payload_debug_info(file)))
    after = unflatten(stripped.delegates[0].payload)
    assert after == {path: data for path, data in before.items() if path not in DEBUG}
    unpacked(stripped.delegates[0].payload, tmp_path)
    assert torch.equal(in_pteron(stripped, X), in_pteron(file, X))
    assert strip_payload_debug_info(stripped).to_bytes() == stripped.to_bytes()


@pytest.mark.parametrize("kind", ["core_ml_multifunction", "xnnpack", "portable"])
def test_where_there_is_none_nothing_changes(opened: Opened, kind: str) -> None:
    file = opened(kind)
    assert content(strip_payload_debug_info(file)) == content(file)


def test_a_function_found_by_the_methods_name(opened: Opened) -> None:
    with pytest.raises(UnsupportedError, match=r"delegate 0 .CoreMLBackend. is looked up"):
        rename(opened("core_ml_multifunction"), {"decode": "step"})


def test_bytes_as_they_are(opened: Opened, made: Maker) -> None:
    """One of two delegates that share a payload gets another one: a copy of it, one byte longer."""
    two = merge(opened("xnnpack"), rename(opened("xnnpack"), {"forward": "other"}))
    first, second = two.delegates
    assert first.table.processed == second.table.processed
    longer = bytes(first.payload) + b"\0"
    edited = program(proven(replace_payload(two, "other", 0, longer)))
    assert [bytes(d.payload) for d in edited.delegates] == [bytes(first.payload), longer]
    assert_equal(run(edited.to_bytes(), [X]), run(made("xnnpack").pte, [X]))
    back = replace_payload(edited, "other", 0, first.payload)
    assert content(back) == content(two)


@pytest.mark.parametrize(
    ("method", "index", "message"),
    [
        ("forward", 1, "no delegate of index 1; there are 1"),
        ("forward", -1, "no delegate of index -1"),
        ("nothing", 0, "no method 'nothing'"),
    ],
)
def test_no_such_delegate(opened: Opened, method: str, index: int, message: str) -> None:
    with pytest.raises(UsageError, match=message):
        replace_payload(opened("xnnpack"), method, index, b"")


@pytest.mark.parametrize("kind", ["xnnpack", "core_ml"])
def test_bytes_that_are_no_payload(opened: Opened, kind: str) -> None:
    with pytest.raises(FormatError, match=r"delegate 0 of 'forward': the new payload is none of"):
        replace_payload(opened(kind), "forward", 0, b"garbage " * 20)


def test_what_no_reader_knows_is_taken_as_it_is(opened: Opened) -> None:
    parts = opened("xnnpack").parts()
    parts.program.execution_plan[0].delegates[0].id = "SomeoneElsesBackend"
    edited = replace_payload(PTEFile(**vars(parts)), "forward", 0, b"anything")
    assert bytes(edited.delegates[0].payload) == b"anything"
