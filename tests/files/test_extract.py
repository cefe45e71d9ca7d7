"""What is extracted is what ExecuTorch decodes and coremltools opens."""

from __future__ import annotations

import json
import os
from pathlib import Path

import numpy as np
import pytest
import torch
from safetensors.numpy import load_file

import pteron
from pteron.errors import FileAccessError, FormatError, UsageError
from pteron.files import NamedBlob, PTDFile, PTEFile
from pteron.files.extract import extract
from pteron.files.extract.names import FileNames
from pteron.files.extract.payloads import write_source
from pteron.files.stored import stored_constants, stored_initial_values
from pteron.payloads.sources import FilesSource
from pteron.schema.flat_tensor import TensorLayout
from pteron.schema.program import (
    BackendDelegate,
    BackendDelegateDataReference,
    DataLocation,
    ExecutionPlan,
    Program,
    ScalarType,
)
from tests.files.made import Counter, mlp
from tests.files.oracle import their_file
from tests.files.programs import add_constant_program


def their_json(data: bytes) -> dict:
    """The program's tables as ExecuTorch writes them to JSON."""
    from executorch.exir._serialize._flatbuffer import _program_flatbuffer_to_json

    size = int.from_bytes(data[16:24], "little") if data[8:12] == b"eh00" else len(data)
    return json.loads(_program_flatbuffer_to_json(data[:size]))


def listing(folder: Path) -> set[str]:
    return {p.relative_to(folder).as_posix() for p in folder.rglob("*") if p.is_file()}


@pytest.mark.parametrize("form", ["safetensors", "npy"])
def test_constants_equal_executorchs_decoding(made, tmp_path: Path, form: str):
    data = made("portable").pte
    extract(pteron.open(data), tmp_path / "out", ["constants"], form)
    theirs = their_file(data).program
    tensors = [value.val for plan in theirs.execution_plan for value in plan.values]
    expected = {
        f"constant {t.data_buffer_idx}": (
            t,
            bytes(theirs.constant_buffer[t.data_buffer_idx].storage),
        )
        for t in tensors
        if getattr(t, "data_buffer_idx", 0) and t.allocation_info is None
    }
    if form == "safetensors":
        found = load_file(tmp_path / "out/constants.safetensors")
    else:
        folder = tmp_path / "out/constants"
        found = {p.stem.replace("_", " "): np.load(p) for p in folder.iterdir()}
    assert found.keys() == expected.keys()
    for name, (tensor, raw) in expected.items():
        assert found[name].shape == tuple(tensor.sizes)
        assert found[name].tobytes() == raw[: found[name].nbytes]


def test_files_are_as_open_to_others_as_the_mask_allows(made, tmp_path: Path):
    mask = os.umask(0o027)
    try:
        extract(pteron.open(made("portable").pte), tmp_path / "out")
    finally:
        os.umask(mask)
    modes = {path.stat().st_mode & 0o777 for path in (tmp_path / "out").iterdir()}
    assert (modes, (tmp_path / "out").stat().st_mode & 0o777) == ({0o640}, 0o750)


def test_initial_values_have_their_names(made, tmp_path: Path):
    extract(pteron.open(made("mutable").pte), tmp_path / "out", ["constants"])
    found = load_file(tmp_path / "out/initial_values.safetensors")
    (value,) = found.values()
    np.testing.assert_array_equal(value, Counter().total.numpy())
    assert all("total" in name for name in found)


def test_a_core_ml_payload_is_a_package_that_coremltools_opens(made, tmp_path: Path):
    import coremltools

    file = pteron.open(made("core_ml").pte)
    extract(file, tmp_path / "out", ["payloads"])
    package = tmp_path / "out/payloads/forward-0/model.mlpackage"
    spec = coremltools.models.MLModel(str(package), skip_model_load=True).get_spec()

    from pteron.payloads import open_payload
    from pteron.payloads.coreml.package import CoreMLPackage

    ours = CoreMLPackage(open_payload("CoreMLBackend", file.delegates[0].payload)).model
    assert spec.SerializeToString(deterministic=True) == ours.SerializeToString(deterministic=True)
    (entry,) = json.loads((tmp_path / "out/payloads/index.json").read_text())
    assert (entry["method"], entry["backend"], entry["path"]) == (
        "forward",
        "CoreMLBackend",
        "forward-0",
    )


def test_a_shared_model_is_written_once(made, tmp_path: Path):
    file = pteron.open(made("core_ml_multifunction").pte)
    extract(file, tmp_path / "out")
    assert "named_data.safetensors" not in listing(tmp_path / "out")
    index = json.loads((tmp_path / "out/payloads/index.json").read_text())
    assert [(e["method"], e["function"]) for e in index] == [
        ("decode", "decode"),
        ("prefill", "prefill"),
    ]
    (path,) = {entry["path"] for entry in index}
    assert f"{path}/model.mlpackage/Manifest.json" in listing(tmp_path / "out/payloads")
    extract(file, tmp_path / "named", ["named-data"])
    (model,) = load_file(tmp_path / "named/named_data.safetensors").values()
    assert model.tobytes() == next(iter(file.named_data.values())).data


def test_the_program_is_executorchs_json(made, tmp_path: Path):
    for kind in ("portable", "multi_method", "with_stacktraces"):
        data = made(kind).pte
        extract(pteron.open(data), tmp_path / kind, ["program"])
        ours = json.loads((tmp_path / kind / "program.json").read_text())
        assert without_blobs(ours) == without_blobs(their_json(data))


def without_blobs(value):
    """Blobs are lists of numbers in their JSON and descriptions in ours."""
    if isinstance(value, dict):
        return {k: "blob" if blob_field(k, value) else without_blobs(v) for k, v in value.items()}
    return [without_blobs(item) for item in value] if isinstance(value, list) else value


def blob_field(key: str, owner: dict) -> bool:
    return key in ("storage", "data") or (key == "value" and "key" in owner)


def test_named_data_as_bytes_and_as_tensors(made, corpus: Path, tmp_path: Path):
    data = made("xnnpack").pte
    extract(pteron.open(data), tmp_path / "program", ["named-data"])
    theirs = their_file(data).named_data
    found = load_file(tmp_path / "program/named_data.safetensors")
    assert {key: array.tobytes() for key, array in found.items()} == {
        key: bytes(theirs.buffers[entry.buffer_index]) for key, entry in theirs.pte_data.items()
    }
    extract(pteron.open(corpus / "linear-external.ptd"), tmp_path / "data")
    weights = load_file(tmp_path / "data/named_data.safetensors")
    assert {name: array.shape for name, array in weights.items()} == {
        "linear.weight": (3, 3),
        "linear.bias": (3,),
    }
    assert listing(tmp_path / "data") == {"data.json", "named_data.safetensors"}


def test_external_constants_are_the_models(made, tmp_path: Path):
    (data,) = made("external_constants").data.values()
    extract(pteron.open(data), tmp_path / "out")
    found = load_file(tmp_path / "out/named_data.safetensors")
    for name, tensor in mlp().state_dict().items():
        np.testing.assert_array_equal(found[name], tensor.numpy())


def test_channels_last_is_put_in_logical_order(tmp_path: Path):
    value = torch.arange(24.0).reshape(1, 2, 3, 4).to(memory_format=torch.channels_last)
    stored = value.permute(0, 2, 3, 1).contiguous().numpy().tobytes()
    layout = TensorLayout(scalar_type=ScalarType.FLOAT, sizes=[1, 2, 3, 4], dim_order=[0, 2, 3, 1])
    file = PTDFile({"w": NamedBlob(stored, tensor_layout=layout)})
    extract(file, tmp_path / "out")
    found = load_file(tmp_path / "out/named_data.safetensors")["w"]
    np.testing.assert_array_equal(found, value.numpy())


def test_bfloat16_survives(tmp_path: Path):
    from safetensors.torch import load_file as load_torch

    value = torch.tensor([1.5, -2.25, 3.0], dtype=torch.bfloat16)
    layout = TensorLayout(scalar_type=ScalarType.BFLOAT16, sizes=[3], dim_order=[0])
    blob = NamedBlob(value.view(torch.int16).numpy().tobytes(), tensor_layout=layout)
    extract(PTDFile({"w": blob}), tmp_path / "out")
    assert torch.equal(load_torch(tmp_path / "out/named_data.safetensors")["w"], value)


def test_a_bundle_gives_its_program(corpus: Path, tmp_path: Path):
    extract(pteron.open(corpus / "bundled-2023.bp"), tmp_path / "out")
    assert listing(tmp_path / "out") == {"program.json", "constants.safetensors"}


def test_a_payload_that_no_reader_knows_is_written_as_it_is(corpus: Path, tmp_path: Path):
    file = pteron.open(corpus / "stories260k-qnn.pte")
    extract(file, tmp_path / "out", ["payloads"])
    index = json.loads((tmp_path / "out/payloads/index.json").read_text())
    assert all("no payload reader for backend 'QnnBackend'" in entry["note"] for entry in index)
    for entry, delegate in zip(index, file.delegates, strict=True):
        assert (tmp_path / "out/payloads" / entry["path"]).read_bytes() == delegate.payload


def payload_program(method: str, payload: bytes) -> PTEFile:
    delegate = BackendDelegate(
        id="UnknownBackend",
        processed=BackendDelegateDataReference(location=DataLocation.INLINE, index=0),
    )
    plan = ExecutionPlan(name=method, delegates=[delegate])
    return PTEFile(program=Program(execution_plan=[plan]), delegate_payloads=[payload])


def test_a_hostile_method_name_stays_inside(tmp_path: Path):
    extract(payload_program("../../evil\0/x", b"payload"), tmp_path / "out", ["payloads"])
    assert {path.name for path in tmp_path.iterdir()} == {"out"}
    assert {Path(path).suffix for path in listing(tmp_path / "out")} == {".json", ".bin"}


@pytest.mark.parametrize("path", ["../evil", "/evil", "a/../../evil", "c:evil", "a\\evil"])
def test_a_hostile_payload_path_is_refused(tmp_path: Path, path: str):
    source = FilesSource("TestBackend", {path: memoryview(b"evil")})
    with pytest.raises(FormatError):
        write_source(source, tmp_path / "payload")
    assert listing(tmp_path) == set()


def test_nothing_is_left_when_it_fails(made, tmp_path: Path):
    file = pteron.open(made("portable").pte)
    values = file.program.execution_plan[0].values
    constant = next(v.val for v in values if getattr(v.val, "data_buffer_idx", 0))
    constant.dim_order = [7] * len(constant.sizes)
    with pytest.raises(FormatError, match="dim order"):
        extract(file, tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


def test_an_existing_directory_is_left_alone(made, tmp_path: Path):
    file = pteron.open(made("portable").pte)
    (tmp_path / "out").mkdir()
    extract(file, tmp_path / "out", ["program"])  # an empty one may be filled
    with pytest.raises(FileAccessError, match="exists already"):
        extract(file, tmp_path / "out", ["program"])
    with pytest.raises(FileAccessError, match="cannot write"):
        extract(file, tmp_path / "no/such/parent", ["program"])
    assert listing(tmp_path) == {"out/program.json"}


def test_an_unknown_content_is_named(tmp_path: Path):
    with pytest.raises(UsageError, match=r"cannot extract \['weights'\]; there are: program"):
        extract(add_constant_program([b"", bytes(16)]), tmp_path / "out", ["weights"])


def test_names_of_constants_are_unique():
    file = add_constant_program([b"", bytes(16), bytes(range(16)), bytes(8)])
    assert [c.name for c in stored_constants(file)] == ["constant 1", "constant 2", "constant 3"]
    assert [c.shape for c in stored_constants(file)] == [(2, 2), None, None]
    assert stored_initial_values(file) == []


def test_file_names():
    names = FileNames()
    given = ["weight", "Weight", "a/b", "a:b", "..", "", "ü" * 300, "layer.0-x"]
    assert [names.unique(name) for name in given] == [
        "weight",
        "Weight~2",
        "a_b",
        "a_b~2",
        "unnamed",
        "unnamed~2",
        "_" * 100,
        "layer.0-x",
    ]
