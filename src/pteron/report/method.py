"""One method of a program as the page draws it."""

from __future__ import annotations

from typing import Any

from pteron.files.methods import Delegate
from pteron.files.operators import operator_names
from pteron.files.program_file import PTEFile
from pteron.report.flow import flow
from pteron.report.guard import guarded
from pteron.report.memory import memory
from pteron.report.paths import paths
from pteron.report.payload_graph import payload_graph
from pteron.report.values import values
from pteron.schema.program import ExecutionPlan


def method(file: PTEFile, plan: ExecutionPlan, delegates: list[Delegate]) -> dict[str, Any]:
    """Instructions, values, memory plan and what is inside the delegates."""
    return {
        "name": plan.name,
        "inputs": list(plan.inputs),
        "outputs": list(plan.outputs),
        "values": guarded(values, plan),
        "run": guarded(_run, plan),
        "memory": guarded(memory, plan),
        "delegates": [payload_graph(file, delegate) for delegate in delegates],
    }


def _run(plan: ExecutionPlan) -> dict[str, Any]:
    """Steps are [kind, target, stack, reads, producers, writes], with ``stacks`` counted apart."""
    stacks, numbers = paths(plan)
    steps = [
        [
            step.kind,
            step.target,
            number,
            [value for value, _ in step.reads],
            [producer for _, producer in step.reads],
            step.writes,
        ]
        for step, number in zip(flow(plan), numbers, strict=True)
    ]
    return {"operators": operator_names(plan), "stacks": stacks, "steps": steps}
