"""Several methods in one package: weights once, a function each, state within."""

from __future__ import annotations

import copy
import json
from pathlib import Path

import coremltools as ct
import pytest
import torch
from torch import Tensor, nn

import pteron
from pteron.errors import UsageError
from pteron.files import PTEFile
from pteron.lowering import CoreML, lower
from pteron.payloads import open_payload
from pteron.payloads.coreml.package import CoreMLPackage
from pteron.payloads.coreml.reference import read_reference

from . import packages


class Decoder(nn.Module):
    """Two methods over the same weights, each with a state that the other has not."""

    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(64, 96)
        self.mix = nn.Linear(96, 96)
        self.head = nn.Linear(96, 64)
        self.register_buffer("seen", torch.zeros(1, 96))
        self.register_buffer("last", torch.zeros(1, 96))

    def prefill(self, tokens: Tensor) -> Tensor:
        x = self.mix(self.embed(tokens))
        self.seen.add_(x.sum(1))
        return self.head(x + self.seen)

    def decode(self, token: Tensor) -> Tensor:
        x = self.mix(self.embed(token))
        self.last.mul_(0.5).add_(x)
        return self.head(x + self.last)


PROMPT, TOKEN = torch.arange(6).reshape(1, 6), torch.tensor([7])


def model() -> Decoder:
    torch.manual_seed(0)
    return Decoder().eval()


def lowered(**options: object) -> PTEFile:
    given = model()
    methods = {"prefill": (given.prefill, (PROMPT,)), "decode": (given.decode, (TOKEN,))}
    return lower(methods, backend=CoreML(compute_precision="float32", **options))


def test_weights_are_stored_once():
    together, apart = lowered(), lowered(multifunction=False)
    weights = sum(p.numel() * 4 for p in model().parameters())
    (summary,) = together.lowering_report.packages
    assert summary.functions == ("prefill", "decode")
    size, two = len(together.to_bytes()), len(apart.to_bytes())
    assert two - size == pytest.approx(summary.saved_bytes, abs=2048)
    assert summary.saved_bytes > 0.9 * weights
    assert not apart.named_data and not apart.lowering_report.packages
    assert f"{summary.saved_bytes:,} saved (named data coreml_pteron_" in str(
        together.lowering_report
    )
    (listed,) = json.loads(together.lowering_report.to_json())["packages"]
    assert listed["saved_bytes"] == summary.saved_bytes


def test_the_file_has_executorchs_layout():
    file = lowered()
    ((key, blob),) = file.named_data.items()
    blobs = {key: memoryview(blob.data)}
    for delegate in file.delegates:
        reference = read_reference(delegate.payload)
        assert (reference.key, reference.function) == (key, delegate.method)
        assert bytes(delegate.payload[:4]) == b"CMJR"
        assert json.loads(bytes(delegate.payload[4:])) == {
            "version": 1,
            "key": key,
            "functionName": delegate.method,
        }
        source = open_payload(delegate.backend_id, delegate.payload, blobs, delegate.method)
        metadata = CoreMLPackage(source).metadata
        assert key == f"coreml_{metadata.identifier}"
        assert metadata.methods["prefill"].inputs == ("tokens",)
        assert metadata.methods["decode"].inputs == ("token",)


@pytest.mark.slow
def test_coremltools_reads_what_it_would_have_joined_itself(tmp_path: Path):
    together, apart = lowered(), lowered(multifunction=False)
    ours = packages.unpack(together, tmp_path / "ours")
    wanted = ct.utils.MultiFunctionDescriptor()
    for number, name in enumerate(("prefill", "decode")):
        single = packages.unpack(apart, tmp_path / name, number)
        wanted.add_function(str(single), "main", name)
    wanted.default_function_name = "prefill"
    ct.utils.save_multifunction(wanted, str(tmp_path / "theirs.mlpackage"))
    mine, theirs = (
        ct.utils.load_spec(str(ours)),
        ct.utils.load_spec(str(tmp_path / "theirs.mlpackage")),
    )
    assert mine.specificationVersion == theirs.specificationVersion
    assert mine.description.defaultFunctionName == "prefill"
    given, joined = ({f.name: f for f in spec.description.functions} for spec in (theirs, mine))
    assert given == joined
    for name in ("prefill", "decode"):
        kinds = [
            sorted(o.op_type for o in packages.operations(p, name))
            for p in (ours, tmp_path / "theirs.mlpackage")
        ]
        assert kinds[0] == kinds[1]
    assert ct.models.MLModel(str(ours), function_name="decode", skip_model_load=True) is not None


@pytest.mark.parametrize("weights", [None, pytest.param("int4", marks=pytest.mark.slow)])
def test_each_function_computes_what_its_method_does(weights, tmp_path):
    file, apart = lowered(weights=weights), lowered(weights=weights, multifunction=False)
    assert file.named_data and not apart.named_data
    path = tmp_path / "decoder.pte"
    file.save(path)
    module, other = pteron.load(path, cache=None), pteron.load(apart, cache=None)
    assert {name: entry.owner for name, entry in module.state.items()} == {
        "seen": "delegate",
        "last": "delegate",
    }
    eager = copy.deepcopy(model())
    for name, inputs in [("prefill", PROMPT), ("decode", TOKEN)] * 2:
        (got,), (same,) = (m.methods[name](inputs.numpy()) for m in (module, other))
        torch.testing.assert_close(torch.as_tensor(got), torch.as_tensor(same))
        if weights is None:
            with torch.no_grad():
                want = getattr(eager, name)(inputs)
            torch.testing.assert_close(torch.as_tensor(got), want, rtol=4e-3, atol=4e-3)


@pytest.mark.slow
def test_nothing_is_joined_where_nothing_is_gained():
    methods = {"twice": (nn.ReLU(), (torch.ones(3),)), "half": (nn.Sigmoid(), (torch.ones(4),))}
    assert not lower(methods).named_data
    layer = nn.Linear(64, 64)
    same = {"one": (layer, (torch.ones(1, 64),)), "two": (layer, (torch.ones(1, 64),))}
    file = lower(same)
    assert not file.named_data and len({bytes(d.payload) for d in file.delegates}) == 1
    several = {"one": (layer, (torch.ones(1, 64),)), "two": (layer, (torch.ones(2, 64),))}
    assert not lower(several, backend=CoreML("iOS17")).named_data
    assert lower(several).named_data


class Counter(nn.Module):
    """One buffer for all methods; ``peek`` only reads it."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(1, 4))
        self.register_buffer("positions", torch.zeros(1, 4, dtype=torch.int64))

    def add(self, x: Tensor) -> Tensor:
        self.total.add_(x)
        self.positions.add_(1)
        return self.total * 2 + self.positions

    def scale(self, x: Tensor) -> Tensor:
        self.total.mul_(x)
        return self.total + self.positions

    def peek(self, x: Tensor) -> Tensor:
        return self.total * x


def counter_methods(given: Counter) -> dict[str, object]:
    x = (torch.ones(1, 4),)
    return {name: (getattr(given, name), x) for name in ("add", "scale", "peek")}


def test_methods_share_a_state_on_request():
    with pytest.warns(UserWarning, match=r"state total is one value.*ExecuTorch's Core ML runtime"):
        file = lower(
            counter_methods(Counter()),
            backend=CoreML(compute_precision="float32"),
            share_state_between_delegates=True,
        )
    buffers = file.lowering_report.state.buffers
    assert {name: record.owner.value for name, record in buffers.items()} == {
        "total": "delegate",
        "positions": "program",
    }
    assert "methods add, scale, peek share it as asked" in buffers["total"].reason
    module, eager = pteron.load(file, cache=None), Counter()
    other = module.fork()
    for name in ["add", "peek", "scale", "peek", "add", "scale", "peek"]:
        x = torch.full((1, 4), 1.5)
        (got,) = module.methods[name](x.numpy())
        torch.testing.assert_close(torch.as_tensor(got), getattr(eager, name)(x))
    assert module.state["total"].owner == "delegate"
    torch.testing.assert_close(torch.as_tensor(module.state["total"].read()).float(), eager.total)
    assert not other.state["total"].read().any()
    module.state["total"].write(torch.full((1, 4), 3.0).numpy())
    assert module.methods["peek"](torch.ones(1, 4).numpy())[0].tolist() == [[3.0] * 4]


@pytest.mark.slow
def test_what_cannot_be_shared_stays_with_the_program_and_says_why():
    methods = counter_methods(Counter())
    report = lower(methods, share_state_between_delegates=["positions"]).lowering_report
    reasons = {name: record.reason for name, record in report.state.buffers.items()}
    assert "keeps it from a delegate: Core ML state cannot hold int64" in reasons["positions"]
    assert "Core ML makes a state of its own" in reasons["total"]
    single = CoreML(multifunction=False)
    apart = lower(methods, backend=single, share_state_between_delegates=True).lowering_report
    assert {record.owner.value for record in apart.state.buffers.values()} == {"program"}
    with pytest.raises(UsageError, match=r"share_state_between_delegates: 'nope' matches no"):
        lower(methods, share_state_between_delegates=["nope"])
    with pytest.raises(UsageError, match=r"share_state_between_delegates=3: must be a list"):
        lower(methods, share_state_between_delegates=3)
