"""The example model: the original's numbers, and one delegate that owns its three buffers."""

from __future__ import annotations

import json

import pytest
import torch

import pteron
from pteron.lowering import lower

from .reference import ExecuTorchProgram


@pytest.fixture(scope="module")
def model(silero_example, silero_jit):
    return silero_example.load(silero_jit)


@pytest.fixture(scope="module")
def lowered(model):
    return lower(model, (torch.zeros(1, 512),))


def test_rebuilt_model_equals_the_original_to_the_last_bit(silero_example, silero_jit):
    rebuilt, original = silero_example.load(silero_jit), torch.jit.load(silero_jit)
    original.reset_states()
    torch.manual_seed(0)
    with torch.no_grad():
        for step in range(100):
            chunk = torch.randn(1, 512) * 0.02 * (step % 13)
            assert torch.equal(rebuilt(chunk), original(chunk, 16000))


def test_one_delegate_owns_every_buffer(lowered):
    (plan,) = lowered.program.execution_plan
    (delegate,) = plan.delegates
    assert delegate.id == "CoreMLBackend"
    assert not plan.operators
    states = json.loads({s.key: s.value for s in delegate.compile_specs}["pteron.states"])
    assert {s["name"]: (s["dtype"], s["source_dtype"], s["shape"]) for s in states} == {
        "h": ("float16", "float32", [1, 128]),
        "c": ("float16", "float32", [1, 128]),
        "context": ("float16", "float32", [1, 64]),
    }


def test_lowering_is_reproducible(model, lowered):
    assert lower(model, (torch.zeros(1, 512),)).to_bytes() == lowered.to_bytes()


def test_executorch_reads_the_same_program(lowered):
    from executorch.exir._serialize._program import deserialize_pte_binary

    theirs = deserialize_pte_binary(lowered.to_bytes()).program
    (plan,) = theirs.execution_plan
    assert [type(v.val).__name__ for v in plan.values] == ["Tensor", "Tensor"]
    assert plan.values[0].val.sizes == [1, 512]
    assert plan.values[1].val.sizes == [1, 1]
    assert plan.chains[0].instructions[0].instr_args.args == [0, 1]


def test_coremltools_reads_the_package(lowered, tmp_path):
    import coremltools as ct

    from pteron.payloads.coreml import memfs

    (delegate,) = pteron.open(lowered.to_bytes()).delegates
    for path, data in memfs.unflatten(delegate.payload).items():
        target = tmp_path / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    spec = ct.models.MLModel(str(tmp_path / "model.mlpackage"), skip_model_load=True).get_spec()
    assert {s.name for s in spec.description.state} == {"h", "c", "context"}
    assert [i.name for i in spec.description.input] == ["chunk"]
    metadata = json.loads((tmp_path / "metadata.json").read_bytes())
    assert metadata["inputNames"] == ["chunk"]
    assert metadata["outputNames"] == [o.name for o in spec.description.output]


def test_without_take_over_there_is_no_state_in_the_payload(model):
    from pteron.payloads import open_payload
    from pteron.payloads.coreml.package import CoreMLPackage

    file = lower(model, (torch.zeros(1, 512),), take_over_mutable_buffers=False)
    delegate = pteron.open(file.to_bytes()).delegates[0]
    source = open_payload(delegate.backend_id, delegate.payload, None, "forward")
    description = CoreMLPackage(source).model.description
    assert not description.state
    assert [i.name for i in description.input] == ["b_h", "b_c", "b_context", "chunk"]
    assert len(description.output) == 4
    assert {r.owner.value for r in file.lowering_report.state.buffers.values() if r.writes} == {
        "program"
    }


def test_runs_in_executorch_without_a_delegate(model):
    file = lower(model, (torch.zeros(1, 512),), backend=None)
    program = ExecuTorchProgram(file)
    for buffer in (model.h, model.c, model.context):
        buffer.zero_()
    with torch.no_grad():
        for _ in range(10):
            chunk = torch.randn(1, 512) * 0.1
            torch.testing.assert_close(program.run(chunk)[0], model(chunk))
