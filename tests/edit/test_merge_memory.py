"""State in memory that methods share, when programs are merged."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
import torch
from executorch.exir import ExecutorchBackendConfig, to_edge
from executorch.exir.passes import MemoryPlanningPass
from executorch.runtime import Runtime
from torch import nn
from torch.export import export

from pteron.edit import drop, merge, rename
from pteron.edit.memory_ids import planned_tensors, shared_ids
from pteron.errors import UsageError
from pteron.files import PTEFile
from pteron.schema.program import AllocationDetails, Tensor
from tests.edit.proof import canonical, content, program, proven

X = torch.arange(4.0)


class Store(nn.Module):
    """Keeps what it is given, and says what it had."""

    def __init__(self, size: int = 4) -> None:
        super().__init__()
        self.register_buffer("kept", torch.zeros(size))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        before = self.kept.clone()
        self.kept.copy_(x + 1)
        return before


class Sum(Store):
    """Adds to the same buffer."""

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        self.kept.add_(x)
        return self.kept * 1


def exported(methods: dict[str, nn.Module], x: torch.Tensor = X) -> PTEFile:
    """A program whose methods share their mutable buffers, in memory id 2."""
    config = ExecutorchBackendConfig(
        memory_planning_pass=MemoryPlanningPass(share_mutable_buffers=True),
        emit_mutable_buffer_names=True,
    )
    programs = {name: export(module, (x,)) for name, module in methods.items()}
    return program(bytes(to_edge(programs).to_executorch(config).buffer))


@pytest.fixture(scope="module")
def store_and_sum() -> PTEFile:
    return exported({"store": Store(), "sum": Sum()})


@pytest.fixture(scope="module")
def other() -> PTEFile:
    return exported({"other_store": Store(), "other_sum": Sum()})


def caller(data: bytes) -> Callable[[str, torch.Tensor], Any]:
    """Calls methods of one loaded program, which ExecuTorch gives one set of memories."""
    loaded = Runtime.get().load_program(data)
    return lambda method, x: loaded.load_method(method).execute([x.clone()])[0].clone()


def test_one_program_shares_a_state_of_its_own(store_and_sum: PTEFile) -> None:
    """What the tests below rest on."""
    assert shared_ids(store_and_sum.program.execution_plan) == {2}
    call = caller(store_and_sum.to_bytes())
    call("store", X)
    assert torch.equal(call("sum", X), 2 * X + 1)


def test_states_stay_apart(store_and_sum: PTEFile, other: PTEFile) -> None:
    merged = merge(store_and_sum, other)
    assert [sorted(shared_ids([plan])) for plan in merged.program.execution_plan] == [
        [2],
        [2],
        [3],
        [3],
    ]
    call = caller(proven(merged))
    call("store", X)
    call("other_store", 10 * X)
    assert torch.equal(call("sum", X), 2 * X + 1)
    assert torch.equal(call("other_sum", X), 11 * X + 1)


def test_states_stay_apart_in_pteron(store_and_sum: PTEFile, other: PTEFile) -> None:
    import pteron

    with pteron.load(merge(store_and_sum, other), cache=None) as module:
        module.method("store")(X.numpy())
        module.method("other_store")(10 * X.numpy())
        assert torch.equal(torch.as_tensor(module.method("sum")(X.numpy())[0]), 2 * X + 1)
        assert torch.equal(torch.as_tensor(module.method("other_sum")(X.numpy())[0]), 11 * X + 1)


def test_three_programs(store_and_sum: PTEFile, other: PTEFile) -> None:
    third = rename(other, {"other_store": "third_store", "other_sum": "third_sum"})
    call = caller(proven(merge(store_and_sum, other, third)))
    for factor, method in enumerate(("store", "other_store", "third_store"), 1):
        call(method, factor * X)
    for factor, method in enumerate(("sum", "other_sum", "third_sum"), 1):
        assert torch.equal(call(method, X), (factor + 1) * X + 1)


def test_drop_gives_the_memory_back(store_and_sum: PTEFile, other: PTEFile) -> None:
    merged = merge(store_and_sum, other)
    assert drop(merged, ["other_store", "other_sum"]).to_bytes() == canonical(store_and_sum)
    left = drop(merged, ["store", "sum"])
    assert content(left) == content(other)
    proven(left)


def test_a_memory_still_in_use_stays(store_and_sum: PTEFile, other: PTEFile) -> None:
    left = drop(merge(store_and_sum, other), ["store"])
    assert shared_ids(left.program.execution_plan) == {2, 3}


def test_shared_on_demand(store_and_sum: PTEFile) -> None:
    one, two = exported({"store": Store()}), exported({"sum": Sum()})
    call = caller(proven(merge(one, two, share_memory=True)))
    call("store", X)
    assert torch.equal(call("sum", X), 2 * X + 1)


def test_other_states_do_not_share() -> None:
    one, two = exported({"store": Store()}), exported({"sum": Sum(8)}, torch.ones(8))
    with pytest.raises(UsageError, match=r"shared: kept .* are not the same state"):
        merge(one, two, share_memory=True)


def test_a_state_at_another_place_does_not_share(store_and_sum: PTEFile, other: PTEFile) -> None:
    parts = other.parts()
    for plan in parts.program.execution_plan:
        plan.non_const_buffer_sizes[2] += 64
        for tensor in planned_tensors(plan):
            assert tensor.allocation_info is not None
            if tensor.allocation_info.memory_id == 2:
                tensor.allocation_info.memory_offset_low += 64
    with pytest.raises(UsageError, match="are not the same state"):
        merge(store_and_sum, PTEFile(**vars(parts)), share_memory=True)


def test_activations_on_a_state_do_not_share(store_and_sum: PTEFile) -> None:
    parts = exported({"other": nn.ReLU()}).parts()
    (plan,) = parts.program.execution_plan
    plan.non_const_buffer_sizes = [0, *plan.non_const_buffer_sizes[1:], 64]
    for tensor in planned_tensors(plan):
        assert tensor.allocation_info is not None
        tensor.allocation_info.memory_id = 2
        tensor.allocation_info.memory_offset_low += 4
    with pytest.raises(UsageError, match=r"has something else where kept .* lies"):
        merge(store_and_sum, PTEFile(**vars(parts)), share_memory=True)


def test_a_result_at_the_place_of_a_state_does_not_share() -> None:
    """An activation that happens to be as large as the state, in the same memory."""
    parts = exported({"other": nn.ReLU()}).parts()
    (plan,) = parts.program.execution_plan
    plan.non_const_buffer_sizes = [0, *plan.non_const_buffer_sizes[1:], 64]
    result = plan.values[plan.outputs[0]].val
    assert isinstance(result, Tensor) and result.allocation_info is not None
    result.allocation_info = AllocationDetails(memory_id=2)
    with pytest.raises(UsageError, match="method 'other' has something else where kept"):
        merge(exported({"store": Store()}), PTEFile(**vars(parts)), share_memory=True)


def test_a_method_kept_once_does_not_lose_its_state(store_and_sum: PTEFile) -> None:
    """``store`` of both is the same, but ``more`` must go on seeing what ``store`` keeps."""
    both = rename(store_and_sum, {"sum": "more"})
    with pytest.raises(UsageError, match="other methods share memory with it"):
        merge(store_and_sum, both)
    call = caller(proven(merge(store_and_sum, both, share_memory=True)))
    call("store", X)
    assert torch.equal(call("more", X), 2 * X + 1)
