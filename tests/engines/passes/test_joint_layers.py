"""Which linear layers become one product, and which stay apart, in graphs made by hand."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from pteron.engines.openvino._import import opset, ov
from pteron.engines.openvino.passes import PASSES, Target
from pteron.engines.openvino.profile import operations

WIDTH = 32
Layers = Callable[[Any], list[Any]]


def weights(out: int, seed: int = 0, inside: int = WIDTH) -> np.ndarray:
    return (np.random.default_rng([out, seed]).standard_normal((out, inside)) / 8).astype("f4")


def linear(x: Any, out: int, seed: int = 0) -> Any:
    return opset.matmul(x, opset.constant(weights(out, seed)), False, True)


def number(*shape: int) -> Any:
    return opset.constant(np.random.default_rng(9).standard_normal(shape).astype(np.float32))


def graph(layers: Layers, shape: tuple[int, ...] = (2, 3, WIDTH)) -> Any:
    x = opset.parameter(list(shape), np.float32, name="x")
    return ov.Model([opset.result(value) for value in layers(x)], [x])


EXACT = {"INFERENCE_PRECISION_HINT": "f32", "DYNAMIC_QUANTIZATION_GROUP_SIZE": 0}


def run(model: Any, *inputs: np.ndarray) -> list[np.ndarray]:
    compiled = ov.Core().compile_model(model, "CPU", EXACT)
    return list(compiled(list(inputs)).to_tuple())


def join(model: Any, exact: bool = False) -> int:
    return PASSES["joint_products"](model, Target("f32", exact))


def types(model: Any) -> list[str]:
    return [node.get_type_name() for node in model.get_ordered_ops()]


def check(layers: Layers, groups: int, shape: tuple[int, ...] = (2, 3, WIDTH)) -> Any:
    """The graph after the pass, which joined so many groups and changed no output."""
    model = graph(layers, shape)
    kept = [output.get_partial_shape() for output in model.outputs]
    assert join(model) == groups
    model.validate_nodes_and_infer_types()
    assert [output.get_partial_shape() for output in model.outputs] == kept
    x = np.random.default_rng(1).standard_normal(shape).astype(np.float32)
    for got, wanted in zip(run(model, x), run(graph(layers, shape), x), strict=True):
        np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)
    assert types(model).count("VariadicSplit") == groups
    return model


def test_model_outputs_of_several_sizes() -> None:
    model = check(lambda x: [linear(x, out) for out in (32, 8, 1)], 1)
    assert types(model).count("MatMul") == 1


@pytest.mark.parametrize("shape", [(WIDTH,), (5, WIDTH), (1, 2, 2, WIDTH)])
def test_any_rank_of_x(shape: tuple[int, ...]) -> None:
    check(lambda x: [linear(x, out) for out in (32, 8, 8)], 1, shape)


def test_weights_may_be_transposed_and_used_twice() -> None:
    kept = opset.constant(weights(16).T.copy())
    model = check(lambda x: [opset.matmul(x, kept, False, False) for _ in range(3)], 1)
    (joint,) = (node for node in model.get_ordered_ops() if node.get_type_name() == "MatMul")
    assert list(joint.input_value(1).get_shape()) == [WIDTH, 48]


def test_several_readers() -> None:
    def layers(x: Any) -> list[Any]:
        q, k, v = (linear(x, 16, seed) for seed in range(3))
        return [opset.add(q, k), opset.multiply(k, v), opset.relu(v), v]

    check(layers, 1)


def test_two_groups_one_after_the_other() -> None:
    def layers(x: Any) -> list[Any]:
        q, k, v = (linear(x, WIDTH, seed) for seed in range(3))
        y = opset.tanh(opset.add(opset.add(q, k), v))
        return [linear(y, 8, seed) for seed in range(4)]

    assert types(check(layers, 2)).count("MatMul") == 2


def test_weights_of_layers_that_are_used_again_are_copied_once() -> None:
    kept = [opset.constant(weights(WIDTH, seed)) for seed in range(3)]

    def layers(x: Any) -> list[Any]:
        for _ in range(3):
            q, k, v = (opset.matmul(x, constant, False, True) for constant in kept)
            x = opset.tanh(opset.add(opset.add(q, k), v))
        return [x]

    joint = [n for n in check(layers, 3).get_ordered_ops() if n.get_type_name() == "MatMul"]
    assert len({node.input_value(1).get_node().get_name() for node in joint}) == 1


def test_biases_are_joined() -> None:
    def layers(x: Any) -> list[Any]:
        q, k, v = (linear(x, out) for out in (32, 8, 16))
        return [opset.add(q, number(32)), k, opset.add(number(16), v)]

    assert types(check(layers, 1)).count("Add") == 1


@pytest.mark.parametrize("shape", [(1,), (3, 16), (2, 3, 16)])
def test_what_is_added_may_be_no_bias(shape: tuple[int, ...]) -> None:
    def layers(x: Any) -> list[Any]:
        q, k, v = (linear(x, 16, seed) for seed in range(3))
        return [opset.add(q, number(*shape)), k, v]

    assert types(check(layers, 1))[-4:].count("Add") == 1


def test_a_bias_stays_where_the_product_is_read_too() -> None:
    def layers(x: Any) -> list[Any]:
        q, k, v = (linear(x, 16, seed) for seed in range(3))
        return [opset.add(q, number(16)), q, k, opset.add(v, number(16))]

    assert types(check(layers, 1)).count("Add") == 2


def test_the_time_is_told_of_all() -> None:
    def layers(x: Any) -> list[Any]:
        found = [opset.add(linear(x, 16, seed), number(16)) for seed in range(3)]
        for name, layer in zip("qkv", found, strict=True):
            layer.friendly_name = f"{name}@"
            layer.input_value(0).get_node().friendly_name = f"{name}@."
        return found

    model = check(layers, 1)
    made_of = operations(ov.Core().compile_model(model, "CPU", EXACT)).values()
    assert any(set(names) == {"q", "k", "v"} for names in made_of)


def test_branches_are_joined() -> None:
    which = opset.parameter([], np.bool_)
    x = opset.parameter([3, WIDTH], np.float32)
    branch = ov.op.if_op(which.output(0))
    bodies = [
        graph(lambda x, first=first: [linear(x, 8, first + seed) for seed in range(3)], (3, WIDTH))
        for first in (0, 3)
    ]
    branch.set_then_body(bodies[0])
    branch.set_else_body(bodies[1])
    branch.set_input(x.output(0), *(body.get_parameters()[0] for body in bodies))
    pairs = zip(*(body.get_results() for body in bodies), strict=True)
    model = ov.Model([branch.set_output(*pair) for pair in pairs], [which, x])
    given = np.random.default_rng(1).standard_normal((3, WIDTH)).astype(np.float32)
    inputs = [[np.array(answer), given] for answer in (True, False)]
    wanted = [run(model, *both) for both in inputs]
    assert join(model) == 2
    for both, values in zip(inputs, wanted, strict=True):
        np.testing.assert_allclose(run(model, *both), values, rtol=1e-5, atol=1e-5)


def test_bodies_of_loops_are_joined() -> None:
    def model() -> Any:
        x = opset.parameter([3, WIDTH], np.float32)
        inner = opset.parameter([3, WIDTH], np.float32)
        q, k, v = (linear(inner, WIDTH, seed) for seed in range(3))
        kept = opset.result(opset.tanh(opset.add(opset.add(q, k), v)))
        go_on = opset.result(opset.constant(np.array(True)))
        loop = opset.loop(opset.constant(np.int64(3)), opset.constant(np.array(True)))
        loop.set_function(ov.Model([kept, go_on], [inner]))
        loop.set_special_body_ports([-1, 1])
        loop.set_merged_input(inner, x.output(0), kept.output(0))
        return ov.Model([loop.get_iter_value(kept.output(0), -1)], [x])

    changed, x = model(), weights(3)
    assert join(changed) == 1
    (got,), (wanted,) = run(changed, x), run(model(), x)
    np.testing.assert_allclose(got, wanted, rtol=1e-5, atol=1e-5)


def quantised(x: Any, seed: int) -> Any:
    """As the translator writes a layer whose weights are int8."""
    values = opset.constant((weights(16, seed) * 200).astype(np.int8))
    scaled = opset.multiply(opset.convert(values, "f32"), number(16, 1))
    return opset.matmul(x, scaled, False, True)


def computed(x: Any, seed: int) -> Any:
    return opset.matmul(
        x, opset.multiply(opset.constant(weights(16, seed)), number(1)), False, True
    )


def parallel_mlp(x: Any) -> list[Any]:
    """Attention and a gated MLP of one x, which is fused with two layers of its own."""
    q, k, gate, up = (linear(x, out, seed) for seed, out in enumerate((32, 32, 64, 64)))
    down = opset.constant(weights(WIDTH, inside=64))
    inner = opset.multiply(opset.gelu(gate, "erf"), up)
    return [opset.add(q, k), opset.matmul(inner, down, False, True)]


APART: dict[str, Layers] = {
    "two": lambda x: [linear(x, 16, seed) for seed in range(2)],
    "another x": lambda x: [linear(y, 16) for y in (x, x, opset.relu(x))],
    "weights in both orders": lambda x: [
        *(linear(x, 16, seed) for seed in range(2)),
        *(opset.matmul(x, opset.constant(weights(16, s).T.copy()), False, False) for s in (2, 3)),
    ],
    "a batch of weights": lambda x: [
        opset.matmul(x, number(2, WIDTH, 16), False, False) for _ in range(3)
    ],
    "quantised weights": lambda x: [quantised(x, seed) for seed in range(3)],
    "computed weights": lambda x: [computed(x, seed) for seed in range(3)],
    "x on the right": lambda x: [opset.matmul(number(4, 3), x, False, False) for _ in range(3)],
    "x transposed": lambda x: [opset.matmul(x, number(3, 8), True, False) for _ in range(3)],
    "a gated MLP's": parallel_mlp,
}


@pytest.mark.parametrize("layers", APART.values(), ids=APART.keys())
def test_layers_that_stay_apart(layers: Layers) -> None:
    check(layers, 0)


@pytest.mark.parametrize(("out", "groups"), [(21_845, 1), (21_846, 0)])
def test_weights_of_more_than_8_mib_stay_apart(out: int, groups: int) -> None:
    kept = opset.constant(np.zeros((out, WIDTH), np.float32))
    model = graph(lambda x: [opset.matmul(x, kept, False, True) for _ in range(3)])
    assert join(model) == groups


def test_the_reference_mode_joins_nothing() -> None:
    model = graph(lambda x: [linear(x, 16, seed) for seed in range(3)])
    assert join(model, exact=True) == 0
