"""Recurrent layers (coremltools ``ops/defs/*/recurrent.py``).

OpenVINO's own sequences know sigmoid, tanh and relu and no peepholes; whatever else a layer asks
for is written out step by step, which needs a sequence of known length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from pteron.engines.openvino._import import opset
from pteron.engines.openvino.declare import Flag, Floats, Number, Tensor, Text
from pteron.engines.openvino.graph import cast_like, i64, ints, like, shape_of, size
from pteron.engines.openvino.problem import OpProblem
from pteron.engines.openvino.registry import mil_op
from pteron.engines.openvino.values import Output

_NATIVE = frozenset({"sigmoid", "tanh", "relu"})
_ACTIVATIONS: dict[str, Callable[[Output], Output]] = {
    "sigmoid": opset.sigmoid,
    "tanh": opset.tanh,
    "relu": opset.relu,
    "linear": lambda x: x,
    "hard_sigmoid": lambda x: opset.hard_sigmoid(x, like(x, 0.2), like(x, 0.5)),
    "sigmoid_hard": lambda x: opset.hard_sigmoid(x, like(x, 0.2), like(x, 0.5)),
    "scaled_tanh": opset.tanh,  # a layer cannot give the scales, which then are 1
}
_DIRECTIONS = {"forward": 1, "reverse": 1, "bidirectional": 2}


@dataclass(frozen=True)
class _Weights:
    """Weights of one direction."""

    ih: Output
    hh: Output
    bias: Output | None
    peephole: Output | None = None


@mil_op(tested="PyTorch, TensorFlow's definition")
def lstm(
    x: Floats,
    initial_h: Floats,
    initial_c: Floats,
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias: Tensor | None = None,
    peephole: Tensor | None = None,
    weight_ih_back: Tensor | None = None,
    weight_hh_back: Tensor | None = None,
    bias_back: Tensor | None = None,
    peephole_back: Tensor | None = None,
    direction: Text = "forward",
    output_sequence: Flag = False,
    recurrent_activation: Text = "sigmoid",
    cell_activation: Text = "tanh",
    activation: Text = "tanh",
    clip: Number | None = None,
) -> list[Output]:
    layers = [_Weights(weight_ih, weight_hh, bias, peephole)]
    if _count(direction) == 2:
        if weight_ih_back is None or weight_hh_back is None:
            raise OpProblem("a bidirectional layer needs weights for both directions")
        layers.append(_Weights(weight_ih_back, weight_hh_back, bias_back, peephole_back))
    names = [recurrent_activation, cell_activation, activation]
    plain = clip is None and all(layer.peephole is None for layer in layers)
    if plain and _NATIVE.issuperset(names):
        return _lstm_sequence(x, initial_h, initial_c, layers, direction, output_sequence, names)
    step = _lstm_step(_activations(names), clip)
    return _unrolled(x, [initial_h, initial_c], layers, direction, output_sequence, step)


def _lstm_sequence(
    x: Output,
    initial_h: Output,
    initial_c: Output,
    layers: Sequence[_Weights],
    direction: str,
    output_sequence: bool,
    activations: list[str],
) -> list[Output]:
    order = (1, 0, 3, 2)  # MIL: input, forget, output, cell; OpenVINO: forget, input, cell, output
    batched, lengths = _batch_first(_in_order(x, direction))
    y, h, c = opset.lstm_sequence(
        batched,
        _per_direction(initial_h, len(layers)),
        _per_direction(initial_c, len(layers)),
        lengths,
        _stacked(x, [_reordered(layer.ih, order) for layer in layers]),
        _stacked(x, [_reordered(layer.hh, order) for layer in layers]),
        _stacked(x, [_reordered(_bias(layer), order) for layer in layers]),
        _hidden(layers[0]),
        "bidirectional" if len(layers) == 2 else "forward",
        activations,
    ).outputs()
    return [_sequence(y, h, output_sequence), _joined(h), _joined(c)]


def _lstm_step(
    activations: Sequence[Callable[[Output], Output]], clip: float | None
) -> Callable[[Output, list[Output], _Weights], list[Output]]:
    gate, cell, out = activations

    def step(x: Output, states: list[Output], weights: _Weights) -> list[Output]:
        h, c = states
        total = _affine(x, h, weights)
        i, f, o, z = opset.split(total, i64(1), 4).outputs()
        peep: list[Output] = []
        if weights.peephole is not None:
            peep = opset.split(cast_like(x, weights.peephole), i64(0), 3).outputs()
            i, f = (opset.add(g, opset.multiply(c, p)) for g, p in zip((i, f), peep, strict=False))
        new = opset.add(opset.multiply(gate(f), c), opset.multiply(gate(i), cell(z)))
        if clip is not None:
            new = opset.clamp(new, -clip, clip)
        if peep:
            o = opset.add(o, opset.multiply(new, peep[2]))
        return [opset.multiply(gate(o), out(new)), new]

    return step


@mil_op(tested="PyTorch")
def rnn(
    x: Floats,
    initial_h: Floats,
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias: Tensor | None = None,
    direction: Text = "forward",
    output_sequence: Flag = False,
    activation: Text = "tanh",
) -> list[Output]:
    layers = [_Weights(weight_ih, weight_hh, bias)]
    if activation not in _NATIVE:
        (act,) = _activations([activation])

        def step(x: Output, states: list[Output], weights: _Weights) -> list[Output]:
            return [act(_affine(x, states[0], weights))]

        return _unrolled(x, [initial_h], layers, direction, output_sequence, step)
    batched, lengths = _batch_first(_in_order(x, direction))
    y, h = opset.rnn_sequence(
        batched,
        _per_direction(initial_h, 1),
        lengths,
        _stacked(x, [weight_ih]),
        _stacked(x, [weight_hh]),
        _stacked(x, [_bias(layers[0])]),
        _hidden(layers[0]),
        "forward",
        [activation],
    ).outputs()
    return [_sequence(y, h, output_sequence), _joined(h)]


@mil_op(tested="NumPy")
def gru(
    x: Floats,
    initial_h: Floats,
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias: Tensor | None = None,
    direction: Text = "forward",
    output_sequence: Flag = False,
    recurrent_activation: Text = "sigmoid",
    activation: Text = "tanh",
) -> list[Output]:
    layer = _Weights(weight_ih, weight_hh, bias)
    names = [recurrent_activation, activation]
    return _gru(x, initial_h, layer, direction, output_sequence, names, False, None)


@mil_op("gru", since=18, tested="PyTorch")
def gru_18(
    x: Floats,
    initial_h: Floats,
    weight_ih: Tensor,
    weight_hh: Tensor,
    bias: Tensor | None = None,
    direction: Text = "forward",
    output_sequence: Flag = False,
    recurrent_activation: Text = "sigmoid",
    activation: Text = "tanh",
    reset_after: Flag = False,
    input_bias: Tensor | None = None,
) -> list[Output]:
    layer = _Weights(weight_ih, weight_hh, bias)
    names = [recurrent_activation, activation]
    return _gru(x, initial_h, layer, direction, output_sequence, names, reset_after, input_bias)


def _gru(
    x: Output,
    initial_h: Output,
    layer: _Weights,
    direction: str,
    output_sequence: bool,
    names: list[str],
    reset_after: bool,
    input_bias: Output | None,
) -> list[Output]:
    if not _NATIVE.issuperset(names):
        step = _gru_step(_activations(names), reset_after, input_bias)
        return _unrolled(x, [initial_h], [layer], direction, output_sequence, step)
    order = (2, 0, 1)  # MIL: reset, new, update; OpenVINO: update, reset, new
    batched, lengths = _batch_first(_in_order(x, direction))
    y, h = opset.gru_sequence(
        batched,
        _per_direction(initial_h, 1),
        lengths,
        _stacked(x, [_reordered(layer.ih, order)]),
        _stacked(x, [_reordered(layer.hh, order)]),
        _stacked(x, [_gru_bias(layer, input_bias, reset_after)]),
        _hidden(layer),
        "forward",
        names,
        linear_before_reset=reset_after,
    ).outputs()
    return [_sequence(y, h, output_sequence), _joined(h)]


def _gru_bias(layer: _Weights, input_bias: Output | None, reset_after: bool) -> Output:
    """Biases of update, reset and new gate; ``reset_after``: the new gate's recurrent one apart."""
    r, new, z = opset.split(_bias(layer), i64(0), 3).outputs()
    inner = opset.multiply(new, like(new, 0))
    if input_bias is not None:
        r_in, inner, z_in = opset.split(cast_like(r, input_bias), i64(0), 3).outputs()
        r, z = opset.add(r, r_in), opset.add(z, z_in)
    if reset_after:
        return opset.concat([z, r, inner, new], 0).output(0)
    return opset.concat([z, r, opset.add(new, inner)], 0).output(0)


def _gru_step(
    activations: Sequence[Callable[[Output], Output]],
    reset_after: bool,
    input_bias: Output | None,
) -> Callable[[Output, list[Output], _Weights], list[Output]]:
    gate, act = activations

    def step(x: Output, states: list[Output], weights: _Weights) -> list[Output]:
        (h,) = states
        given = opset.matmul(x, cast_like(x, weights.ih), False, True)
        if input_bias is not None:
            given = opset.add(given, cast_like(x, input_bias))
        r_w, o_w, z_w = opset.split(cast_like(x, weights.hh), i64(0), 3).outputs()
        r_b, o_b, z_b = opset.split(cast_like(x, _bias(weights)), i64(0), 3).outputs()
        r_x, o_x, z_x = opset.split(given, i64(1), 3).outputs()

        def recurrent(state: Output, weight: Output, bias: Output) -> Output:
            return opset.add(opset.matmul(state, weight, False, True), bias)

        r = gate(opset.add(r_x, recurrent(h, r_w, r_b)))
        z = gate(opset.add(z_x, recurrent(h, z_w, z_b)))
        if reset_after:
            new = opset.multiply(r, recurrent(h, o_w, o_b))
        else:
            new = recurrent(opset.multiply(r, h), o_w, o_b)
        o = act(opset.add(o_x, new))
        keep = opset.multiply(z, h)
        return [opset.add(opset.multiply(opset.subtract(like(x, 1), z), o), keep)]

    return step


def _unrolled(
    x: Output,
    states: list[Output],
    layers: Sequence[_Weights],
    direction: str,
    output_sequence: bool,
    step: Callable[[Output, list[Output], _Weights], list[Output]],
) -> list[Output]:
    """Every step of every direction as graph of its own."""
    length = size(x, 0)
    if length is None:
        raise OpProblem("this layer needs a sequence of known length")
    steps = opset.split(_in_order(x, direction), i64(0), length).outputs()
    steps = [opset.squeeze(item, ints([0])) for item in steps]
    sequences, finals = [], []
    for index, layer in enumerate(layers):
        backward = index == 1
        now = [_part(state, index, len(layers)) for state in states]
        seen = []
        for item in reversed(steps) if backward else steps:
            now = step(item, now, layer)
            seen.append(opset.unsqueeze(now[0], ints([0])))
        sequences.append(opset.concat(seen[::-1] if backward else seen, 0))
        finals.append(now)
    ends = [opset.concat(list(parts), 1).output(0) for parts in zip(*finals, strict=True)]
    whole = opset.concat(sequences, 2) if output_sequence else opset.unsqueeze(ends[0], ints([0]))
    return [whole, *ends]


def _in_order(x: Output, direction: str) -> Output:
    """The steps as they are worked through, which for ``reverse`` is also the output's order."""
    if _count(direction) == 2 or direction == "forward":
        return x
    return opset.slice(x, ints([-1]), ints([-(2**31)]), ints([-1]), ints([0])).output(0)


def _part(state: Output, index: int, count: int) -> Output:
    return state if count == 1 else opset.split(state, i64(1), count).output(index)


def _affine(x: Output, h: Output, weights: _Weights) -> Output:
    given = opset.matmul(x, cast_like(x, weights.ih), False, True)
    kept = opset.matmul(h, cast_like(x, weights.hh), False, True)
    return opset.add(opset.add(given, kept), cast_like(x, _bias(weights))).output(0)


def _activations(names: Sequence[str]) -> list[Callable[[Output], Output]]:
    for name in names:
        if name not in _ACTIVATIONS:
            raise OpProblem(f"there is no recurrent activation '{name}'")
    return [_ACTIVATIONS[name] for name in names]


def _count(direction: str) -> int:
    if direction not in _DIRECTIONS:
        raise OpProblem(f"there is no direction '{direction}'")
    return _DIRECTIONS[direction]


def _hidden(weights: _Weights) -> int:
    hidden = size(weights.hh, 1)
    if hidden is None:
        raise OpProblem("weights need a known shape")
    return hidden


def _bias(weights: _Weights) -> Output:
    if weights.bias is not None:
        return weights.bias
    return opset.broadcast(like(weights.ih, 0), ints([size(weights.ih, 0) or 0])).output(0)


def _reordered(weight: Output, order: Sequence[int]) -> Output:
    """Gates, stacked along the first axis, in another order."""
    gates = opset.split(weight, i64(0), len(order)).outputs()
    return opset.concat([gates[i] for i in order], 0).output(0)


def _stacked(x: Output, parts: Sequence[Output]) -> Output:
    return opset.concat([opset.unsqueeze(cast_like(x, part), ints([0])) for part in parts], 0)


def _batch_first(x: Output) -> tuple[Output, Output]:
    """``[batch, steps, features]``, and how many steps each batch entry has."""
    sizes = shape_of(x)
    steps, batch = (opset.gather(sizes, ints([axis]), i64(0)) for axis in (0, 1))
    return opset.transpose(x, ints([1, 0, 2])), opset.broadcast(opset.squeeze(steps), batch)


def _per_direction(state: Output, count: int) -> Output:
    """``[batch, directions * hidden]`` as ``[batch, directions, hidden]``."""
    return opset.reshape(state, ints([0, count, -1]), True)


def _joined(state: Output) -> Output:
    """``[batch, directions, hidden]`` as ``[batch, directions * hidden]``."""
    return opset.reshape(state, ints([0, -1]), True)


def _sequence(y: Output, h: Output, output_sequence: bool) -> Output:
    """``[steps, batch, directions * hidden]``: every step, or the last one alone."""
    if not output_sequence:
        return opset.unsqueeze(_joined(h), ints([0]))
    return opset.reshape(opset.transpose(y, ints([2, 0, 1, 3])), ints([0, 0, -1]), True)
