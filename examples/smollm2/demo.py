"""SmolLM2 with its caches in the delegate: lower it, talk to it, compare it with PyTorch.

    python -m examples.smollm2.demo --prompt "Why is the sky blue?"
    python -m examples.smollm2.demo        # answers three prompts, compares them with eager PyTorch

Run it with ``make smollm2``. It leaves the program and a summary in ``build/smollm2``.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from time import perf_counter
from typing import Any

import pteron
from examples.smollm2 import data, weights
from examples.smollm2.agreement import compare, tokens_of
from examples.smollm2.generate import Step, greedy, with_eager, with_program
from examples.smollm2.model import prepared
from examples.smollm2.text import Text
from pteron.runtime import Module

OUT = Path("build/smollm2")
PROMPTS = (
    "What is the capital of France, and what is it known for?",
    "Write a short story about a lighthouse keeper and a storm.",
    "Explain in simple words how a bicycle stays upright.",
)
TOKENS = 64
CACHES, ROWS = "*_cache", 2
"""Names of the caches, and the axis of their positions."""


def main() -> None:
    """Answer one prompt, or check three."""
    parser = argparse.ArgumentParser(description="SmolLM2 on pteron.")
    parser.add_argument("--prompt", help="answer this; without it, compare with eager PyTorch")
    parser.add_argument("--tokens", type=int, default=256, help="length of an answer at most")
    parser.add_argument("--cache", type=int, default=1024, help="positions the caches hold")
    options = parser.parse_args()
    text = Text(data.gguf())
    tokens = text.chat(options.prompt or PROMPTS[0])
    if len(tokens) + TOKENS > options.cache:
        parser.error(f"a prompt of {len(tokens)} tokens and an answer need a larger --cache")
    program = OUT / f"smollm2-{options.cache}.pte"
    if options.prompt is None or not program.is_file():
        lower(program, options.cache)
    with pteron.load(program, cache=pteron.cache.DirectoryCache(OUT / "cache")) as module:
        if options.prompt is None:
            check(module, text, options.cache)
        else:
            answer(module, text, tokens, min(options.tokens, options.cache - len(tokens)))


def lower(program: Path, cache: int) -> None:
    """Lower the model: fp32 arithmetic, and every cache owned by the one delegate."""
    program.parent.mkdir(parents=True, exist_ok=True)
    model, inputs, options = prepared(weights.load(data.gguf(), cache))
    backend = pteron.CoreML(compute_precision="float32")
    file = pteron.lower(model, inputs, backend=backend, whole_graph=True, **options)
    print(file.lowering_report, flush=True)
    file.save(program)


def answer(module: Module, text: Text, tokens: Sequence[int], count: int) -> None:
    """Print an answer as it is made."""
    step, show = with_program(module), text.stream()
    started = perf_counter()
    logits = step(tokens, 0)
    prefilled = perf_counter()
    told = 0
    for token, _ in greedy(step, logits, len(tokens), count, text.end):
        print(show(token), end="", flush=True)
        told += 1
    speed = told / (perf_counter() - prefilled)
    print(
        f"\n\n{len(tokens)} tokens read in {prefilled - started:.2f} s, "
        f"{speed:.1f} tokens written per second"
    )


def check(module: Module, text: Text, cache: int) -> None:
    """Answer every prompt with the program and with eager PyTorch; end with exit code 1 if wrong.

    Every answer is given three times: at once, after its prompt's snapshot was restored, and after
    the caches were rolled back to the prompt.
    """
    eager = with_eager(weights.load(data.gguf(), cache))
    results = [checked(module, eager, text, prompt) for prompt in PROMPTS]
    summary = {
        "states": {name: entry.owner for name, entry in module.state.items()},
        "prompts": results,
    }
    (OUT / "summary.json").write_text(json.dumps(summary, indent=2) + "\n")
    print(f"written: {OUT / 'summary.json'}")
    if not all(
        result["holds"] and result["restored"] and result["rolled_back"] for result in results
    ):
        raise SystemExit(1)


def checked(module: Module, eager: Step, text: Text, prompt: str) -> dict[str, Any]:
    """One prompt's answers compared."""
    tokens = text.chat(prompt)
    step = with_program(module)
    module.state.reset()
    logits = step(tokens, 0)
    prefix = module.state.snapshot()

    def told() -> Sequence[tuple[int, Any]]:
        return list(greedy(step, logits, len(tokens), TOKENS))

    first = told()
    module.state.restore(prefix)
    restored = tokens_of(told()) == tokens_of(first)
    module.state.rollback(len(tokens), CACHES, axis=ROWS)
    rolled_back = tokens_of(told()) == tokens_of(first)
    agreement = compare(first, list(greedy(eager, eager(tokens, 0), len(tokens), TOKENS)))
    print(f"\n{prompt}\n  {text.text(tokens_of(first))!r}")
    print(
        f"  {agreement.same} of {agreement.tokens} tokens as in eager PyTorch, logits within "
        f"{agreement.largest_difference:.4f}; the same again from the prompt's snapshot: "
        f"{restored}, after a rollback to the prompt: {rolled_back}",
        flush=True,
    )
    return {
        "prompt": prompt,
        "answer": text.text(tokens_of(first)),
        **asdict(agreement),
        "holds": agreement.holds,
        "restored": restored,
        "rolled_back": rolled_back,
    }


if __name__ == "__main__":
    main()
