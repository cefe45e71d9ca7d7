"""The SmolLM2 example: its code on a small random model, and (slow) with the real weights."""

from __future__ import annotations

import copy
import json
import subprocess
import sys
from typing import Any

import numpy as np
import pytest
import torch

import pteron
from examples.smollm2.agreement import BOUND, compare, tokens_of
from examples.smollm2.generate import greedy, with_eager, with_program
from examples.smollm2.model import Config, SmolLM2, build_random, rotary_table, rotated
from pteron.runtime import Module
from tests.conftest import ROOT

SMALL = Config(layers=2, width=72, heads=9, key_heads=3, hidden=96, vocabulary=300, cache=40)
PROMPT = [7, 250, 3, 3, 19, 120, 64]


@pytest.fixture(scope="module")
def small() -> tuple[SmolLM2, pteron.PTEFile]:
    model, inputs, options = build_random(SMALL)
    backend = pteron.CoreML(compute_precision="float32")
    eager = copy.deepcopy(model)
    return eager, pteron.lower(model, inputs, backend=backend, whole_graph=True, **options)


@pytest.fixture
def module(small: tuple[SmolLM2, pteron.PTEFile]) -> Module:
    return pteron.load(small[1], cache=None)


@pytest.fixture
def eager(small: tuple[SmolLM2, pteron.PTEFile]) -> SmolLM2:
    return copy.deepcopy(small[0])


def test_one_delegate_owns_every_cache(small: tuple[SmolLM2, pteron.PTEFile]) -> None:
    (plan,) = small[1].program.execution_plan
    assert (len(plan.delegates), len(plan.operators)) == (1, 0)
    records = small[1].lowering_report.state.buffers.values()
    owners = {record.name: record.owner.value for record in records if record.writes}
    assert owners == {
        f"layers.{layer}.attention.{kind}_cache": "delegate" for layer in (0, 1) for kind in "kv"
    }


def test_prompts_of_every_length_and_steps_equal_eager(module: Module, eager: SmolLM2) -> None:
    tokens = torch.randint(300, (40,), generator=torch.Generator().manual_seed(0)).tolist()
    for lengths in ([39, 1], [1, 1, 1], [5, 1, 12, 1, 1, 20]):
        module.state.reset()
        position = 0
        for length in lengths:
            some = tokens[position : position + length]
            got = with_program(module)(some, position)
            want = with_eager(eager)(some, position)
            np.testing.assert_allclose(got, want, rtol=0, atol=5e-3)
            position += length


def test_what_the_caches_held_before_does_not_matter(module: Module) -> None:
    step = with_program(module)
    first = step(PROMPT, 0)
    step([1, 2, 3], len(PROMPT))
    np.testing.assert_array_equal(step(PROMPT, 0), first)


def test_answers_are_the_same_from_a_snapshot_and_after_a_rollback(
    module: Module, eager: SmolLM2
) -> None:
    def told(step: Any, logits: Any) -> list[Any]:
        return list(greedy(step, logits, len(PROMPT), 20))

    step = with_program(module)
    logits = step(PROMPT, 0)
    prefix = module.state.snapshot()
    answer = told(step, logits)
    assert compare(answer, told(with_eager(eager), with_eager(eager)(PROMPT, 0))).holds
    module.state.rollback(len(PROMPT), "*_cache", axis=2)
    for name, value in prefix.values.items():
        np.testing.assert_array_equal(module.state[name].read(), value)
    assert tokens_of(told(step, logits)) == tokens_of(answer)
    child = module.fork()
    child.state.restore(prefix)
    assert tokens_of(told(with_program(child), logits)) == tokens_of(answer)


def test_an_answer_ends_at_the_token_for_that(eager: SmolLM2) -> None:
    step = with_eager(eager)
    logits = step(PROMPT, 0)
    tokens = tokens_of(greedy(step, logits, len(PROMPT), 9))
    end = tokens[4]
    stopped = tokens_of(greedy(step, logits, len(PROMPT), 9, end))
    assert stopped == tokens[: tokens.index(end)]


def test_comparing_finds_where_answers_part() -> None:
    a = [(1, np.array([0.0, 3.0])), (0, np.array([2.0, 1.0])), (0, np.array([9.0, 1.0]))]
    b = [(1, np.array([0.0, 3.01])), (1, np.array([2.0, 2.5])), (1, np.array([1.0, 9.0]))]
    found = compare(a, b)
    assert (found.tokens, found.same, found.gap) == (3, 1, 0.5)
    assert found.largest_difference == pytest.approx(1.5)
    assert not found.holds
    assert compare(a, a).holds


def test_the_rotation_is_the_one_of_pairs_with_halves_apart() -> None:
    """GGUF's order of rows is for the rotation of neighbours, as complex numbers."""
    gguf = pytest.importorskip("gguf")
    from examples.smollm2.weights import halves_apart

    assert gguf
    torch.manual_seed(0)
    x = torch.randn(1, 5, SMALL.width)
    rows = torch.randn(SMALL.width, SMALL.width)
    pairs = (x @ rows.T).unflatten(-1, (SMALL.heads, -1, 2))
    steps = torch.arange(5.0)[:, None] * SMALL.rope_base ** (-torch.arange(0, 8, 2) / 8)
    turned = torch.view_as_complex(pairs) * torch.polar(torch.ones(5, 4), steps)[:, None]
    ours = (x @ halves_apart(rows, SMALL.heads).T).unflatten(-1, (SMALL.heads, -1))
    cosine, sine = rotary_table(SMALL)[:, :5].unsqueeze(2)
    first, second = rotated(ours, cosine, sine).chunk(2, dim=-1)
    torch.testing.assert_close(torch.complex(first, second), turned)


@pytest.fixture(scope="module")
def summary() -> dict[str, Any]:
    """What the demo found with the real weights."""
    result = run()
    assert result.returncode == 0, result.stdout + result.stderr
    found: dict[str, Any] = json.loads((ROOT / "build/smollm2/summary.json").read_text())
    return found


def run(*options: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "examples.smollm2.demo", *options]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True)


@pytest.mark.slow
@pytest.mark.timeout(3600)  # a minute of lowering, two of decoding, on a machine with nothing to do
def test_the_real_weights_give_eagers_answers(summary: dict[str, Any]) -> None:
    assert set(summary["states"].values()) == {"delegate"}
    assert len(summary["states"]) == 60
    assert len(summary["prompts"]) == 3
    for result in summary["prompts"]:
        assert result["tokens"] == 64
        assert result["holds"]
        assert result["same"] == 64 or result["gap"] <= 2 * BOUND
        assert 0 < result["largest_difference"] <= BOUND
        assert result["restored"]
        assert result["rolled_back"]
    assert "Paris" in summary["prompts"][0]["answer"]


@pytest.mark.slow
@pytest.mark.timeout(3600)
def test_it_answers_a_prompt(summary: dict[str, Any]) -> None:
    result = run("--prompt", "What is the capital of France?", "--tokens", "12")
    assert result.returncode == 0, result.stderr
    assert "Paris" in result.stdout
