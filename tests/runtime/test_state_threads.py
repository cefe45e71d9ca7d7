"""What threads may rely on: the rules of ``pteron.runtime.turns``."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Event

import numpy as np
import pytest
import torch
from torch import Tensor, nn

import pteron
from pteron.runtime import Module

ONE = np.ones((1, 4), np.float32)
CALLS = 60


class Two(nn.Module):
    """Two states that are equal after every call; one is the program's, for its dtype."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(1, 4))
        self.register_buffer("steps", torch.zeros(1, 4, dtype=torch.int64))

    def forward(self, x: Tensor) -> Tensor:
        self.steps.add_(1)
        self.total.add_(x)
        return self.total * 2


@pytest.fixture(scope="module")
def program() -> pteron.PTEFile:
    return pteron.lower(Two(), (torch.ones(1, 4),))


@pytest.fixture
def module(program: pteron.PTEFile) -> Module:
    module = pteron.load(program, cache=None)
    assert {name: e.owner for name, e in module.state.items()} == {
        "total": "delegate",
        "steps": "program",
    }
    return module


def call(module: Module, times: int = CALLS) -> None:
    for _ in range(times):
        module.forward(ONE)


def equal(total: object, steps: object) -> bool:
    return bool(np.array_equal(np.asarray(total), np.asarray(steps)))


def test_a_snapshot_and_a_fork_are_of_one_moment(module: Module) -> None:
    with ThreadPoolExecutor(4) as pool:
        callers = [pool.submit(call, module) for _ in range(2)]
        snapshots = pool.submit(lambda: [module.state.snapshot() for _ in range(CALLS)])
        forks = pool.submit(lambda: [module.fork().state.snapshot() for _ in range(10)])
        for caller in callers:
            caller.result()
    for snapshot in snapshots.result() + forks.result():
        assert equal(snapshot.values["total"], snapshot.values["steps"])
    assert module.state["steps"].read().tolist() == [[2 * CALLS] * 4]


def test_restore_reset_and_rollback_are_whole(module: Module) -> None:
    start = module.state.snapshot()
    with ThreadPoolExecutor(4) as pool:
        work = [
            pool.submit(call, module),
            pool.submit(lambda: [module.state.restore(start) for _ in range(CALLS)]),
            pool.submit(lambda: [module.state.reset() for _ in range(CALLS)]),
            pool.submit(lambda: [module.state.rollback(0, "*", axis=1) for _ in range(CALLS)]),
        ]
        for each in work:
            each.result()
    last = module.state.snapshot()
    assert equal(last.values["total"], last.values["steps"])


def test_a_call_waits_for_the_turn_and_a_fork_does_not(module: Module) -> None:
    child = module.fork()
    held, release = Event(), Event()

    def hold() -> None:
        with module.state._turns:
            held.set()
            release.wait()

    with ThreadPoolExecutor(3) as pool:
        holder = pool.submit(hold)
        try:
            held.wait()
            waiting = pool.submit(call, module, 1)
            pool.submit(call, child, 1).result()
            assert not waiting.done()
        finally:
            release.set()
        waiting.result()
        holder.result()
    assert module.state["steps"].read()[0, 0] == child.state["steps"].read()[0, 0] == 1


def test_forks_run_in_parallel_each_with_its_own_state(module: Module) -> None:
    children = [module.fork() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(call, children, range(10, 14)))
    assert [int(c.state["steps"].read()[0, 0]) for c in children] == [10, 11, 12, 13]
    assert module.state["steps"].read().tolist() == [[0, 0, 0, 0]]
