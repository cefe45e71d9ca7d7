"""Caches that attention updates in place, in the hands of a module's user."""

from __future__ import annotations

import copy
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
import pytest
import torch

import pteron
from pteron.engines.openvino.passes.paged_attention import available
from pteron.runtime import Module
from tests.engines.passes.test_state_attention import ROWS, STATES, Attention, steps

pytestmark = pytest.mark.skipif(not available(), reason="another OpenVINO, or processor")

WIDTH = 128


@cache
def program() -> pteron.PTEFile:
    module = Attention("grouped").eval().requires_grad_(False)
    inputs = (torch.zeros(1, 1, WIDTH), torch.zeros(1, dtype=torch.int64))
    return pteron.lower(copy.deepcopy(module), inputs)


def load(precision: str = "model", threads: int | None = None) -> Module:
    module = pteron.load(program(), cache=None, precision=precision, threads=threads)
    (compilation,) = module.method().compilations
    assert compilation.rewrites.get("state_attention", 0) == (precision != "f32")
    return module


def run(module: Module, first: int, last: int) -> list[np.ndarray]:
    return [module.forward(x, at.astype(np.int64))[0] for x, at in steps(WIDTH, 8)[first:last]]


@pytest.mark.parametrize("precision", ["model", "fast", "f32"])
def test_rollback_and_restore_give_the_same_steps_again(precision: str) -> None:
    module = load(precision)
    run(module, 0, 4)
    kept = module.state.snapshot()
    wanted = run(module, 4, 8)
    module.state.rollback(4, STATES, axis=2)
    for name in STATES:
        assert not module.state[name].read()[:, :, 4:].any()
        np.testing.assert_array_equal(module.state[name].read(), kept.values[name])
    np.testing.assert_array_equal(run(module, 4, 8), wanted)
    module.state.restore(kept)
    np.testing.assert_array_equal(run(module, 4, 8), wanted)


def test_a_written_row_is_attended_to() -> None:
    """Whoever writes into the cache gets what the reference mode gets."""
    outputs = []
    for module in (load(), load("f32")):
        run(module, 0, 3)
        rows = np.random.default_rng(7).standard_normal((1, 2, ROWS, 32)).astype(np.float16)
        module.state["k_cache"].write(rows)
        module.state["v_cache"].write(2 * rows)
        outputs.append(run(module, 3, 6))
    np.testing.assert_allclose(outputs[0], outputs[1], atol=5e-3)


def test_a_snapshot_goes_to_modules_of_other_threads_and_precisions() -> None:
    one = load(threads=1)
    run(one, 0, 4)
    kept = one.state.snapshot()
    wanted = run(one, 4, 8)
    for other in (load(threads=2), load("f32", threads=2)):
        other.state.restore(kept)
        np.testing.assert_allclose(run(other, 4, 8), wanted, atol=2e-3)


def test_forks_called_from_threads_share_no_rows() -> None:
    module = load(threads=1)
    forks = [module.fork() for _ in range(4)]
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda fork: run(fork, 0, 8), forks))
    wanted = run(module, 0, 8)
    for outputs in found:
        np.testing.assert_array_equal(outputs, wanted)
