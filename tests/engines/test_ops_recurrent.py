"""Recurrent layers against torch, and, for what torch has not, against the steps in NumPy."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from tests.engines.oneop import check

RNG = np.random.default_rng(7)
STEPS, BATCH, FEATURES, HIDDEN = 5, 2, 3, 4
IFOZ = [0, 1, 3, 2]  # torch: input, forget, cell, output; MIL: input, forget, output, cell


def random(*shape):
    return RNG.uniform(-1, 1, shape).astype(np.float32)


def reordered(weight: torch.Tensor, order) -> np.ndarray:
    parts = weight.detach().numpy().reshape(len(order), HIDDEN, -1)
    return np.ascontiguousarray(parts[order].reshape(weight.shape))


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize("direction", ["forward", "reverse", "bidirectional"])
def test_lstm(direction, every) -> None:
    torch.manual_seed(0)
    both = direction == "bidirectional"
    layer = torch.nn.LSTM(FEATURES, HIDDEN, bidirectional=both)
    x, count = random(STEPS, BATCH, FEATURES), 2 if both else 1
    h, c = random(count, BATCH, HIDDEN), random(count, BATCH, HIDDEN)
    given = x[::-1].copy() if direction == "reverse" else x
    y, (hn, cn) = layer(torch.from_numpy(given), (torch.from_numpy(h), torch.from_numpy(c)))
    joined = [np.concatenate(list(state.detach().numpy()), 1) for state in (hn, cn)]
    expected = [y.detach().numpy() if every else joined[0][None], *joined]
    constants = {"direction": direction, "output_sequence": every}
    for suffix, back in (("", ""), ("_reverse", "_back"))[:count]:
        bias = getattr(layer, f"bias_ih_l0{suffix}") + getattr(layer, f"bias_hh_l0{suffix}")
        constants[f"bias{back}"] = reordered(bias, IFOZ)
        for kind in ("ih", "hh"):
            weight = getattr(layer, f"weight_{kind}_l0{suffix}")
            constants[f"weight_{kind}{back}"] = reordered(weight, IFOZ)
    tensors = {
        "x": x,
        "initial_h": np.concatenate(list(h), 1),
        "initial_c": np.concatenate(list(c), 1),
    }
    check("lstm", tensors, constants, expected)


def sigmoid(x):
    return 1 / (1 + np.exp(-x))


@pytest.mark.parametrize(("activation", "out"), [("linear", lambda v: v), ("scaled_tanh", np.tanh)])
def test_lstm_with_peepholes_clip_and_other_activations(activation, out) -> None:
    x, h, c = random(STEPS, BATCH, FEATURES), random(BATCH, HIDDEN), random(BATCH, HIDDEN)
    w, r, b = random(4 * HIDDEN, FEATURES), random(4 * HIDDEN, HIDDEN), random(4 * HIDDEN)
    p = random(3 * HIDDEN)
    pi, pf, po = np.split(p, 3)
    hard = lambda v: np.clip(0.2 * v + 0.5, 0, 1)  # noqa: E731
    relu = lambda v: np.maximum(v, 0)  # noqa: E731
    now_h, now_c, seen = h, c, []
    for step in x:
        i, f, o, z = np.split(step @ w.T + now_h @ r.T + b, 4, 1)
        new = hard(f + pf * now_c) * now_c + hard(i + pi * now_c) * relu(z)
        now_c = np.clip(new, -0.8, 0.8)
        now_h = hard(o + po * now_c) * out(now_c)
        seen.append(now_h)
    constants = {
        "weight_ih": w,
        "weight_hh": r,
        "bias": b,
        "peephole": p,
        "clip": np.float32(0.8),
        "output_sequence": True,
        "recurrent_activation": "hard_sigmoid",
        "cell_activation": "relu",
        "activation": activation,
    }
    tensors = {"x": x, "initial_h": h, "initial_c": c}
    check("lstm", tensors, constants, [np.stack(seen), now_h, now_c])


@pytest.mark.parametrize("every", [False, True])
@pytest.mark.parametrize("activation", ["tanh", "relu", "linear", "scaled_tanh", "sigmoid"])
def test_rnn(activation, every) -> None:
    x, h = random(STEPS, BATCH, FEATURES), random(BATCH, HIDDEN)
    w, r, b = random(HIDDEN, FEATURES), random(HIDDEN, HIDDEN), random(HIDDEN)
    function = {
        "tanh": np.tanh,
        "relu": lambda v: np.maximum(v, 0),
        "linear": lambda v: v,
        "scaled_tanh": np.tanh,
        "sigmoid": sigmoid,
    }[activation]
    now, seen = h, []
    for step in x:
        now = function(step @ w.T + now @ r.T + b)
        seen.append(now)
    constants = {"weight_ih": w, "weight_hh": r, "bias": b, "activation": activation}
    constants["output_sequence"] = every
    expected = [np.stack(seen) if every else now[None], now]
    check("rnn", {"x": x, "initial_h": h}, constants, expected, tolerance=1e-4)


@pytest.mark.parametrize("reset_after", [False, True])
@pytest.mark.parametrize("direction", ["forward", "reverse"])
@pytest.mark.parametrize("activation", ["tanh", "linear"])
def test_gru(activation, direction, reset_after) -> None:
    x, h = random(STEPS, BATCH, FEATURES), random(BATCH, HIDDEN)
    w, r = random(3 * HIDDEN, FEATURES), random(3 * HIDDEN, HIDDEN)
    b, given_b = random(3 * HIDDEN), random(3 * HIDDEN)
    wr, wo, wz = np.split(w, 3)
    rr, ro, rz = np.split(r, 3)
    br, bo, bz = np.split(b, 3)
    gr, go, gz = np.split(given_b, 3)
    function = np.tanh if activation == "tanh" else (lambda v: v)
    now, seen = h, []
    for step in x[::-1] if direction == "reverse" else x:
        reset = sigmoid(step @ wr.T + now @ rr.T + br + gr)
        update = sigmoid(step @ wz.T + now @ rz.T + bz + gz)
        inner = reset * (now @ ro.T + bo) if reset_after else (reset * now) @ ro.T + bo
        now = (1 - update) * function(step @ wo.T + inner + go) + update * now
        seen.append(now)
    constants = {
        "weight_ih": w,
        "weight_hh": r,
        "bias": b,
        "input_bias": given_b,
        "reset_after": reset_after,
        "direction": direction,
        "activation": activation,
        "output_sequence": True,
    }
    check("gru", {"x": x, "initial_h": h}, constants, [np.stack(seen), now])
    if not reset_after and direction == "forward":
        for name in ("input_bias", "reset_after"):
            del constants[name]
        constants["bias"] = b + given_b
        check("gru", {"x": x, "initial_h": h}, constants, [np.stack(seen), now], opset=15)
