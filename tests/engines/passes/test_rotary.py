"""Rotary embeddings run as one kernel, however they are written, and stay what they are."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from itertools import product
from typing import Any

import numpy as np
import pytest
import torch
from torch import Tensor

from pteron.engines.openvino._import import opset, ov
from pteron.engines.openvino.passes import PASSES, Target
from pteron.payloads.sources import FilesSource
from tests.engines.converted import computes_in
from tests.engines.passes.rotated import (
    HALF,
    KERNEL,
    TOLERANCE,
    WIDTH,
    Rotated,
    by_slices,
    lowered,
    needs_kernel,
    random,
    rewritten,
    run,
)


def hint_or_skip(hint: str) -> Any:
    """Where the processor has no such arithmetic, OpenVINO takes another, perhaps coarser one."""
    skip = pytest.mark.skipif(not computes_in(hint), reason=f"this processor has no {hint}")
    return pytest.param(hint, marks=skip)


HINTS = [hint_or_skip(hint) for hint in TOLERANCE]


def by_chunks(x: Tensor) -> Tensor:
    first, second = x.chunk(2, dim=-1)
    return torch.cat((-second, first), dim=-1)


def by_split(x: Tensor) -> Tensor:
    first, second = x.split(HALF, dim=-1)
    return torch.cat((second * -1, first), dim=-1)


def by_difference(x: Tensor) -> Tensor:
    return torch.cat((0 - x.narrow(-1, HALF, HALF), x.narrow(-1, 0, HALF)), dim=-1)


def of_a_transposed_projection(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    x = (x * 0.5).transpose(1, 2)
    return x * cosine + by_slices(x) * sine


def of_a_part(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Of the first elements of each head only, as GPT-NeoX and Phi have it."""
    x = (x * 0.5).transpose(1, 2)
    x, rest = x[..., :WIDTH], x[..., WIDTH:]
    return torch.cat((x * cosine + by_slices(x) * sine, rest), dim=-1)


def of_slices(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    """Of what a projection to queries, keys and values has in between, and at its end."""
    q, k = x[..., WIDTH : 2 * WIDTH].transpose(1, 2), x[..., 2 * WIDTH :].transpose(1, 2)
    return (q * cosine + by_slices(q) * sine) + (k * cosine + by_slices(k) * sine)


def twice(x: Tensor, cosine: Tensor, sine: Tensor) -> Tensor:
    x = x * cosine + by_slices(x) * sine
    return x * cosine + by_slices(x) * sine


HEADS_FIRST, TOKENS_FIRST, ROWS = (2, 4, 6, WIDTH), (2, 6, 4, WIDTH), (1, 6, WIDTH)

Case = tuple[Callable[[Tensor, Tensor, Tensor], Tensor], tuple[int, ...], tuple[int, ...], int]
CASES: dict[str, Case] = {
    "slices": (lambda x, c, s: x * c + by_slices(x) * s, HEADS_FIRST, ROWS, 1),
    "chunks": (lambda x, c, s: x * c + by_chunks(x) * s, TOKENS_FIRST, (6, 1, WIDTH), 1),
    "split": (lambda x, c, s: by_split(x) * s + x * c, HEADS_FIRST, (6, WIDTH), 1),
    "difference": (lambda x, c, s: s * by_difference(x) + c * x, HEADS_FIRST, (WIDTH,), 1),
    "by batch": (lambda x, c, s: c * x + by_slices(x) * s, HEADS_FIRST, (2, 1, 6, WIDTH), 1),
    "transposed": (of_a_transposed_projection, TOKENS_FIRST, ROWS, 1),
    "part": (of_a_part, (1, 6, 4, 3 * WIDTH), ROWS, 1),
    "of slices": (of_slices, (1, 6, 4, 3 * WIDTH), ROWS, 2),
    "twice": (twice, HEADS_FIRST, ROWS, 2),
}


@cache
def program(name: str) -> tuple[FilesSource, tuple[Tensor, ...], np.ndarray]:
    """What a case is lowered to, inputs, and what PyTorch makes of them."""
    how, x, factor, _ = CASES[name]
    module, inputs = Rotated(how), random(x, factor, factor)
    return lowered(module, inputs), inputs, module(*inputs).numpy()


@needs_kernel
@pytest.mark.parametrize("hint", HINTS)
@pytest.mark.parametrize("name", CASES)
def test_one_kernel_computes_what_eager_does(name: str, hint: str) -> None:
    source, inputs, wanted = program(name)
    counts, model = rewritten(source, hint)
    types, (got,) = run(model, hint, inputs)
    assert counts["rotary"] == types.count(KERNEL) == CASES[name][-1]
    assert "Concat" not in types or name == "part"
    np.testing.assert_allclose(got, wanted, atol=TOLERANCE[hint])


@pytest.mark.parametrize("name", CASES)
def test_nothing_else_changes(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Computed in fp32 of the same fp16 values, results differ by roundings of fp32 only."""
    source, inputs, _ = program(name)
    _, (got,) = run(rewritten(source, "f32")[1], "f32", inputs)
    monkeypatch.delitem(PASSES, "rotary")
    counts, model = rewritten(source, "f32")
    types, (before,) = run(model, "f32", inputs)
    assert "rotary" not in counts and KERNEL not in types
    np.testing.assert_allclose(got, before, atol=1e-6)


def test_the_reference_mode_keeps_them() -> None:
    counts, model = rewritten(program("slices")[0], "f32", exact=True)
    assert "rotary" not in counts
    assert KERNEL not in run(model, "f32", program("slices")[1])[0]


@needs_kernel
@pytest.mark.parametrize("width", [2, 10, 64, 102])
def test_any_shape_with_any_factor_that_broadcasts_to_it(width: int) -> None:
    """A graph for each; in NumPy, computed in fp64."""
    for shape in product([1, 2], [1, 3], [1, 5]):
        for factor in {tuple(map(min, shape, most)) for most in product([1, 9], repeat=3)}:
            _check_graph((*shape, width), (*factor, width))


def _check_graph(x_shape: tuple[int, ...], factor: tuple[int, ...]) -> None:
    x, cosine, sine = (opset.parameter(shape, np.float32) for shape in (x_shape, factor, factor))
    first, second = opset.split(x, opset.constant(3), 2).outputs()
    turned = opset.concat([opset.negative(second), first], 3)
    total = opset.add(opset.multiply(sine, turned), opset.multiply(x, cosine))
    model = ov.Model([total], [x, cosine, sine])
    assert PASSES["rotary"](model, Target("f32", exact=False)) == 1
    inputs = random(x_shape, factor, factor)
    types, (got,) = run(model, "f32", inputs)
    assert KERNEL in types
    v, c, s = (value.numpy().astype(np.float64) for value in inputs)
    parts = np.split(v, 2, axis=-1)
    np.testing.assert_allclose(
        got, v * c + np.concatenate([-parts[1], parts[0]], -1) * s, atol=1e-6
    )
