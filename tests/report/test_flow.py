"""What instructions read and write."""

from __future__ import annotations

import pteron
from pteron.report.flow import NOBODY, flow
from pteron.schema.program import (
    AllocationDetails,
    Chain,
    DelegateCall,
    EValue,
    ExecutionPlan,
    Instruction,
    Int,
    JumpFalseCall,
    KernelCall,
    MoveCall,
    Operator,
    Tensor,
    TensorList,
)
from tests.report.made import tensor


def plan(values: list[EValue], calls: list, operators: list[Operator]) -> ExecutionPlan:
    chain = Chain(instructions=[Instruction(call) for call in calls])
    return ExecutionPlan(
        name="forward", values=values, inputs=[0], outputs=[], chains=[chain], operators=operators
    )


def test_chain_of_kernels():
    values = [tensor(0, "x"), tensor(None, constant=1), tensor(64), tensor(128)]
    calls = [KernelCall(0, [0, 1, 2, 2]), KernelCall(0, [2, 1, 3, 3])]
    first, second = flow(plan(values, calls, [Operator("aten::add", "out")]))
    assert first.reads == [(0, NOBODY), (1, NOBODY)] and first.writes == [2]
    assert second.reads == [(2, 0), (1, NOBODY)] and second.writes == [3]


def test_in_place_operators_write_their_first_argument():
    values = [tensor(0, "x"), tensor(64, "buffer", constant=1), EValue(Int(0))]
    operators = [Operator("aten::copy_", ""), Operator("aten::index_put_", "")]
    calls = [KernelCall(0, [1, 0, 2, 1]), KernelCall(1, [1, 0, 2, 1])]
    copy, put = flow(plan(values, calls, operators))
    assert copy.writes == [1] and [value for value, _ in copy.reads] == [0, 2]
    assert put.writes == [1] and (1, 0) in put.reads


def test_several_results_are_in_a_list():
    values = [tensor(0, "x"), tensor(64), tensor(128), EValue(TensorList([1, 2])), tensor(192)]
    calls = [KernelCall(0, [0, 1, 2, 3]), KernelCall(1, [2, 4, 4])]
    split, copy = flow(plan(values, calls, [Operator("aten::max", "dim_max"), Operator("a", "b")]))
    assert split.writes == [1, 2] and [value for value, _ in split.reads] == [0]
    assert copy.reads == [(2, 0)]


def test_outputs_of_a_delegate_are_what_nobody_knew():
    values = [tensor(0, "x"), tensor(64), tensor(128), tensor(192)]
    calls = [DelegateCall(0, [0, 1, 2]), DelegateCall(0, [1, 2, 3])]
    first, second = flow(plan(values, calls, []))
    assert first.writes == [1, 2] and [value for value, _ in first.reads] == [0]
    assert second.writes == [3] and second.reads == [(1, 0), (2, 0)]


def test_a_view_comes_from_what_was_written_at_its_place():
    view = EValue(Tensor(sizes=[1024], dim_order=[0], allocation_info=AllocationDetails(1, 64, 0)))
    values = [tensor(0, "x"), tensor(64), view, tensor(128)]
    calls = [KernelCall(0, [0, 1, 1]), KernelCall(0, [2, 3, 3])]
    _, second = flow(plan(values, calls, [Operator("aten::relu", "out")]))
    assert second.reads == [(2, 0)]


def test_indices_that_are_none_are_left_out():
    calls = [KernelCall(0, [0, 99, -4, 1]), MoveCall(0, 1), JumpFalseCall(0, 5)]
    kernel, move, jump = flow(plan([tensor(0), tensor(64)], calls, [Operator("a", "b")]))
    assert kernel.reads == [(0, NOBODY)] and kernel.writes == [1]
    assert (move.kind, move.writes) == ("move", [1])
    assert (jump.kind, jump.target) == ("jump", 5)


def test_every_result_of_a_real_program_has_its_producer(corpus):
    """In a chain of kernels each value is made before it is read."""
    plan = pteron.open(corpus / "keyword-spotting-ethos-u.pte").program.execution_plan[0]
    steps = flow(plan)
    assert len(steps) == sum(len(chain.instructions) for chain in plan.chains)
    for number, step in enumerate(steps):
        assert all(producer < number for _, producer in step.reads)
    written = {value for step in steps for value in step.writes}
    assert set(plan.outputs) <= written
