"""What looks like a rotary embedding and is none, or none that the kernel computes, stays."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
import torch
from torch import Tensor

from pteron.engines.openvino._import import opset, ov
from pteron.engines.openvino.passes import PASSES, Target
from tests.engines.passes.rotated import (
    HALF,
    KERNEL,
    TOLERANCE,
    WIDTH,
    Rotated,
    by_slices,
    lowered,
    random,
    rewritten,
    run,
)

X, ROWS = (2, 4, 6, WIDTH), (1, 6, WIDTH)


def turned(rotate: Callable[[Tensor], Tensor]) -> Callable[[Tensor, Tensor, Tensor], Tensor]:
    return lambda x, cosine, sine: x * cosine + rotate(x) * sine


def parts(first: Callable[[Tensor], Tensor], second: Callable[[Tensor], Tensor]):
    return turned(lambda x: torch.cat((first(x), second(x)), dim=-1))


def pairs(x: Tensor) -> Tensor:
    """Neighbours, as GPT-J turns them."""
    return torch.stack((-x[..., 1::2], x[..., ::2]), dim=-1).flatten(-2)


LOOKALIKES = {
    "nothing is negated": parts(lambda x: x[..., HALF:], lambda x: x[..., :HALF]),
    "the other half is negated": parts(lambda x: x[..., HALF:], lambda x: -x[..., :HALF]),
    "both are negated": parts(lambda x: -x[..., HALF:], lambda x: -x[..., :HALF]),
    "halves stay where they are": parts(lambda x: -x[..., :HALF], lambda x: x[..., HALF:]),
    "one half twice": parts(lambda x: -x[..., HALF:], lambda x: x[..., HALF:]),
    "uneven parts": parts(lambda x: -x[..., 6:], lambda x: x[..., :6]),
    "more than negated": parts(lambda x: -2 * x[..., HALF:], lambda x: x[..., :HALF]),
    "less one": parts(lambda x: 1 - x[..., HALF:], lambda x: x[..., :HALF]),
    "every other element": parts(lambda x: -x[..., 1::2], lambda x: x[..., ::2]),
    "the middle": parts(lambda x: -x[..., 4:12], lambda x: x[..., :HALF]),
    "neighbours": turned(pairs),
    "of one row": parts(lambda x: -x[:, :, :1, HALF:], lambda x: x[:, :, :1, :HALF]),
    "halves of heads": turned(lambda x: torch.cat((-x[:, 2:], x[:, :2]), dim=1)),
    "the difference": lambda x, c, s: x * c - by_slices(x) * s,
    "no cosine": lambda x, c, s: x + by_slices(x) * s + c,
    "another's sine": lambda x, c, s: x * c + by_slices(x + 1) * s,
    "another's halves": parts(lambda x: -(x + 1)[..., HALF:], lambda x: x[..., :HALF]),
}
SLOW = {
    "both are negated",
    "one half twice",
    "more than negated",
    "less one",
    "the middle",
    "no cosine",
    "another's halves",
}
SHAPES = {
    "one cosine for all": (X, (1, 6, 1), ROWS),
    "one sine for all": (X, ROWS, (1, 6, 1)),
    "rank 3": (X[1:], ROWS, ROWS),
    "rank 5": ((1, *X), ROWS, ROWS),
    "factors of rank 5": (X, (1, 1, *ROWS), (1, 1, *ROWS)),
    "enlarged by the cosine": ((1, *X[1:]), X, ROWS),
    "enlarged by the sine": ((2, 1, 6, WIDTH), ROWS, (4, 6, WIDTH)),
}


@pytest.mark.parametrize(
    "name",
    [pytest.param(n, marks=pytest.mark.slow if n in SLOW else ()) for n in LOOKALIKES],
)
def test_another_function_stays(name: str) -> None:
    _check_it_stays(LOOKALIKES[name], X, ROWS, ROWS)


@pytest.mark.parametrize("name", SHAPES)
def test_shapes_that_the_kernel_cannot_take_stay(name: str) -> None:
    _check_it_stays(turned(by_slices), *SHAPES[name])


def test_integers_stay() -> None:
    how, inputs = turned(by_slices), [(x * 9).int() for x in random(X, ROWS, ROWS)]
    counts, model = rewritten(lowered(Rotated(how), inputs), "f32")
    types, (got,) = run(model, "f32", inputs)
    assert "rotary" not in counts and KERNEL not in types
    np.testing.assert_array_equal(got, how(*inputs).numpy())


BOUNDS = {
    (-WIDTH, 2**31 - 1): 0,
    (2 * WIDTH, 2**31 - 1): 0,
    (-WIDTH, 3 * WIDTH): 0,
    (WIDTH, -WIDTH): 0,
    (WIDTH, 2 * WIDTH): 1,
    (2 * WIDTH, 3 * WIDTH): 1,
}


@pytest.mark.parametrize("bounds", BOUNDS)
def test_a_transposed_slice_stays_where_openvino_misreads_its_bounds(
    bounds: tuple[int, int],
) -> None:
    """It would take the slice into the kernel, and then ask for 400 GB, or crash."""
    shapes, whole = ((2, 6, 4, 3 * WIDTH), (1, *ROWS), (1, *ROWS)), [1, 1, 1, 0]
    x, cosine, sine = (opset.parameter(shape, np.float32) for shape in shapes)
    ends = (opset.constant([0, 0, 0, bound]) for bound in bounds)
    part = opset.strided_slice(x, *ends, opset.constant([1, 1, 1, 1]), whole, whole)
    moved = opset.transpose(part, opset.constant([0, 2, 1, 3]))
    first, second = opset.split(moved, opset.constant(3), 2).outputs()
    rotated = opset.concat([opset.negative(second), first], 3)
    total = opset.add(opset.multiply(moved, cosine), opset.multiply(rotated, sine))
    model, inputs = ov.Model([total], [x, cosine, sine]), random(*shapes)
    assert PASSES["rotary"](model, Target("f32", exact=False)) == BOUNDS[bounds]
    _, (got,) = run(model, "f32", inputs)
    moved_part = inputs[0][..., slice(*bounds)].transpose(1, 2)
    wanted = turned(by_slices)(moved_part, *inputs[1:])
    np.testing.assert_allclose(got, wanted.numpy(), atol=1e-6)


def _check_it_stays(
    how: Callable[[Tensor, Tensor, Tensor], Tensor], *shapes: tuple[int, ...]
) -> None:
    inputs = random(*shapes)
    counts, model = rewritten(lowered(Rotated(how), inputs), "f32")
    types, (got,) = run(model, "f32", inputs)
    assert "rotary" not in counts and KERNEL not in types
    np.testing.assert_allclose(got, how(*inputs).numpy(), atol=TOLERANCE["f32"])


def test_factors_for_another_number_of_tokens_may_enlarge_one_token() -> None:
    """Nothing says of two flexible inputs that they are for the same tokens."""
    tokens = torch.export.Dim("tokens", min=1, max=8)
    module, inputs = Rotated(turned(by_slices)), random(X, ROWS, ROWS)
    source = lowered(module, inputs, ({2: tokens}, {1: tokens}, {1: tokens}))
    counts, model = rewritten(source, "f32")
    one = random((2, 4, 1, WIDTH), ROWS, ROWS)
    _, results = run(model, "f32", inputs, one)
    assert "rotary" not in counts
    for call, got in zip((inputs, one), results, strict=True):
        np.testing.assert_allclose(got, module(*call).numpy(), atol=TOLERANCE["f32"])
