"""Our declarations of Core ML's format against coremltools' own descriptors and parser."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from coremltools.proto import FeatureTypes_pb2, MIL_pb2, Model_pb2
from google.protobuf.descriptor_pb2 import FileDescriptorProto, FileDescriptorSet

from pteron.payloads.coreml.proto import features_pb2, mil_pb2, model_pb2

PAIRS = [(features_pb2, FeatureTypes_pb2), (mil_pb2, MIL_pb2), (model_pb2, Model_pb2)]
IDS = ["features", "mil", "model"]
SRC = Path(__file__).resolve().parents[2] / "src"
PROTO = SRC / "pteron/payloads/coreml/proto"


def enum_numbers(enum):
    return {value.name: value.number for value in enum.values}


def local_name(descriptor):
    """A type's name without its package: both sides only differ in that."""
    return descriptor.full_name.removeprefix(descriptor.file.package + ".")


def field_facts(field):
    kind = field.message_type or field.enum_type
    oneof = field.containing_oneof
    return (
        field.name,
        field.number,
        field.type,
        field.is_repeated,
        field.has_presence,
        field.is_packed,
        kind and local_name(kind),
        oneof and oneof.name,
    )


def compare(ours, theirs):
    known = {field.number: field_facts(field) for field in theirs.fields}
    assert ours.fields or not theirs.fields
    for field in ours.fields:
        assert field_facts(field) == known[field.number]
    for nested in ours.nested_types:
        compare(nested, theirs.nested_types_by_name[nested.name])
    for enum in ours.enum_types:
        assert enum_numbers(enum) == enum_numbers(theirs.enum_types_by_name[enum.name])


@pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=IDS)
def test_every_declared_message_is_core_mls(ours, theirs):
    for name, message in ours.DESCRIPTOR.message_types_by_name.items():
        compare(message, theirs.DESCRIPTOR.message_types_by_name[name])


@pytest.mark.parametrize(("ours", "theirs"), PAIRS, ids=IDS)
def test_every_declared_enum_is_core_mls(ours, theirs):
    for name, enum in ours.DESCRIPTOR.enum_types_by_name.items():
        assert enum_numbers(enum) == enum_numbers(theirs.DESCRIPTOR.enum_types_by_name[name])


@pytest.mark.parametrize("module", [mil_pb2, features_pb2], ids=["mil", "features"])
def test_nothing_of_these_files_is_left_out(module):
    theirs = dict(PAIRS)[module].DESCRIPTOR
    for name, message in theirs.message_types_by_name.items():
        ours = module.DESCRIPTOR.message_types_by_name[name]
        assert [f.number for f in ours.fields] == [f.number for f in message.fields]


def test_generated_code_is_that_of_the_declarations(tmp_path: Path):
    protoc = pytest.importorskip("grpc_tools.protoc")
    output = tmp_path / "descriptors"
    sources = [ours.DESCRIPTOR.name for ours, _ in PAIRS]
    assert protoc.main(["protoc", f"-I{SRC}", f"--descriptor_set_out={output}", *sources]) == 0
    declared = {f.name: f for f in FileDescriptorSet.FromString(output.read_bytes()).file}
    for ours, _ in PAIRS:
        generated = FileDescriptorProto()
        ours.DESCRIPTOR.CopyToProto(generated)
        file = declared[generated.name]
        clear_json_names(file.message_type)  # which protoc only writes to descriptor sets
        assert generated == file


def clear_json_names(messages) -> None:
    for message in messages:
        clear_json_names(message.nested_type)
        for field in message.field:
            field.ClearField("json_name")


def test_generated_code_runs_on_the_oldest_protobuf_allowed():
    needed = {
        re.search(r"Protobuf Python Version: ([\d.]+)", path.read_text())[1]
        for path in PROTO.glob("*_pb2.py")
    }
    pyproject = (SRC.parent / "pyproject.toml").read_text()
    (allowed,) = re.findall(r'"protobuf>=([\d.]+)"', pyproject)
    assert needed == {f"{allowed}.0"}


OURS = "from pteron.payloads.coreml.proto import model_pb2 as ours"
THEIRS = "from coremltools.proto import Model_pb2 as theirs"
LEAN = """
import sys
sys.modules["torch"] = sys.modules["sklearn"] = None  # coremltools loads faster so
"""
PARSE = """
import pathlib
from google.protobuf.unknown_fields import UnknownFieldSet
data = pathlib.Path(sys.argv[1]).read_bytes()
a, b = ours.Model.FromString(data), theirs.Model.FromString(data)
assert a.WhichOneof("Type") == b.WhichOneof("Type") == "mlProgram"
assert a.SerializeToString(deterministic=True) == b.SerializeToString(deterministic=True)
assert not len(UnknownFieldSet(a))
assert str(a) == str(b)
"""


@pytest.mark.parametrize("order", [(OURS, THEIRS), (THEIRS, OURS)], ids=["ours-first", "ours-last"])
def test_a_real_package_parses_alike_in_either_import_order(corpus: Path, order):
    models = sorted(corpus.glob("coreml/**/*.mlmodel"))
    assert models
    script = "\n".join([LEAN, *order, PARSE])
    subprocess.run([sys.executable, "-c", script, str(models[0])], check=True, timeout=120)
