"""Several methods in one program: shared weights once, shared state as one value."""

from __future__ import annotations

import copy

import pytest
import torch
from torch import Tensor, nn

import pteron
from pteron.lowering import CoreML, lower

from .reference import ExecuTorchProgram


class Decoder(nn.Module):
    """A running sum with a weight, filled by ``prefill`` and continued by ``decode``."""

    def __init__(self, first: float = 0.0) -> None:
        super().__init__()
        self.mix = nn.Linear(4, 4)
        self.register_buffer("total", torch.full((1, 4), first))
        self.register_buffer("scratch", torch.zeros(1, 4))

    def prefill(self, x: Tensor) -> Tensor:
        self.total.copy_(self.mix(x).sum(0, keepdim=True))
        return self.total * 2

    def decode(self, x: Tensor) -> Tensor:
        self.total.add_(self.mix(x))
        self.scratch.mul_(0.5).add_(x)
        return self.total + self.scratch

    def peek(self, x: Tensor) -> Tensor:
        return self.total * x

    def reset(self, x: Tensor) -> Tensor:
        self.total.fill_(0.25)
        return x + self.total


def methods(model: Decoder) -> dict[str, tuple[object, tuple[Tensor, ...]]]:
    return {
        "prefill": (model.prefill, (torch.randn(3, 4),)),
        "decode": (model.decode, (torch.randn(1, 4),)),
        "peek": (model.peek, (torch.randn(1, 4),)),
        "reset": (model.reset, (torch.randn(1, 4),)),
    }


CALLS = ["decode", "peek", "prefill", "peek", "decode", "reset", "peek", "decode", "peek"]


def inputs_for(name: str, generator: torch.Generator) -> Tensor:
    return torch.randn(3 if name == "prefill" else 1, 4, generator=generator)


@pytest.mark.parametrize("first", [0.0, 0.5])
def test_executorch_shares_the_state_of_methods_called_in_turn(first):
    torch.manual_seed(0)
    model = Decoder(first)
    program = ExecuTorchProgram(lower(methods(copy.deepcopy(model)), backend=None))
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name in CALLS:
            x = inputs_for(name, generator)
            (got,) = program.run(x, method=name)
            torch.testing.assert_close(got, getattr(model, name)(x))


@pytest.mark.parametrize("backend", [None, CoreML(compute_precision="float32")])
def test_pteron_shares_the_state_of_methods_called_in_turn(backend):
    torch.manual_seed(0)
    model = Decoder(first=0.5)
    module = pteron.load(lower(methods(copy.deepcopy(model)), backend=backend), cache=None)
    generator = torch.Generator().manual_seed(1)
    with torch.no_grad():
        for name in CALLS:
            x = inputs_for(name, generator)
            (got,) = module.methods[name](x.numpy())
            want = getattr(model, name)(x)
            torch.testing.assert_close(torch.as_tensor(got), want, rtol=4e-3, atol=4e-3)


def test_shared_state_is_the_programs_and_lies_at_one_place():
    file = lower(methods(Decoder()))
    buffers = file.lowering_report.state.buffers
    assert buffers["total"].owner.value == "program"
    assert "prefill, decode, peek, reset share it" in buffers["total"].reason
    assert buffers["scratch"].owner.value == "delegate"
    places = [
        (value.val.allocation_info.memory_id, value.val.allocation_info.memory_offset)
        for plan in file.program.execution_plan
        for value in plan.values
        if getattr(value.val, "extra_tensor_info", None)
        and value.val.extra_tensor_info.fully_qualified_name == "total"
    ]
    assert places == [(2, 0)] * 4


def test_scratch_and_state_have_memory_ids_of_their_own():
    file = lower(methods(Decoder(first=0.5)), backend=None)
    plans = file.program.execution_plan
    for plan in plans:
        tensors = [v.val for v in plan.values if getattr(v.val, "allocation_info", None)]
        state = [t for t in tensors if t.allocation_info.memory_id == 2]
        assert {t.allocation_info.memory_id for t in tensors} == {1, 2}
        assert {t.extra_tensor_info.fully_qualified_name for t in state} <= {"total", "scratch"}
        assert [t.data_buffer_idx > 0 for t in state].count(True) == 1
    sizes = {plan.non_const_buffer_sizes[2] for plan in plans}
    assert len(sizes) == 1, "the arena of state is as large in every method"
    assert len({plan.non_const_buffer_sizes[1] for plan in plans}) > 1


def test_constants_of_several_methods_are_stored_once():
    model = Decoder()
    constants = [bytes(c) for c in lower(methods(model), backend=None).constants]
    weight = model.mix.weight.detach().numpy().tobytes()
    assert constants.count(weight) == 1


def test_wrappers_around_one_module_share_by_memory_not_by_name():
    class Wrapper(nn.Module):
        def __init__(self, inner: Decoder) -> None:
            super().__init__()
            self.inner = inner

        def forward(self, x: Tensor) -> Tensor:
            return self.inner.peek(x)

    model = Decoder()
    x = (torch.randn(1, 4),)
    file = lower({"decode": (model.decode, x), "look": (Wrapper(model), x)}, backend=None)
    assert set(file.lowering_report.state.buffers) == {"total", "scratch"}


def test_a_method_that_only_resets_reaches_the_shared_state():
    class Cleared(Decoder):
        def clear(self) -> Tensor:
            self.total.zero_()
            return torch.zeros(1)

    model = Cleared()
    x = torch.ones(1, 4)
    sources = {"decode": (model.decode, (x,)), "clear": (model.clear, ())}
    with pytest.warns(UserWarning, match="state total is one value"):
        file = lower(sources, share_state_between_delegates=["total"])
    module = pteron.load(file, cache=None)
    module.method("decode")(x)
    assert module.state["total"].read().any()
    module.method("clear")()
    assert not module.state["total"].read().any()


def test_without_a_backend_nothing_is_said_of_delegates():
    file = lower(methods(Decoder()), backend=None)
    reasons = {record.reason for record in file.lowering_report.state.buffers.values()}
    assert reasons == {"no backend was asked for"}
