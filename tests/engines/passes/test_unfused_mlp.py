"""Gated MLPs with one thread, where OpenVINO's fused operation would end the process."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from pteron.engines.openvino import device
from pteron.engines.openvino._import import NodeFactory, opset, ov
from pteron.engines.openvino.passes import Target, rewrite
from tests.engines.converted import mil_program
from tests.engines.passes.rewritten import running_types

WIDTH, HIDDEN = 64, 128
FUSED = "LLMMLP"
ONE_THREAD = Target("bf16", exact=False, one_thread=True)

ACTIVATIONS: dict[str, Callable[[Any], Any]] = {
    "silu": lambda x: NodeFactory("opset4").create("Swish", [x], {}),
    "silu with its factor": lambda x: opset.swish(x, opset.constant(np.float32(1))),
    "x * sigmoid(x)": lambda x: opset.multiply(x, opset.sigmoid(x)),
    "gelu": lambda x: opset.gelu(x, "erf"),
    "gelu, by tanh": lambda x: opset.gelu(x, "tanh"),
    "gelu from erf": lambda x: opset.multiply(
        opset.multiply(x, _number(0.5)),
        opset.add(opset.erf(opset.divide(x, _number(2**0.5))), _number(1)),
    ),
}


def _number(value: float) -> Any:
    return opset.constant(np.float32(value))


def _linear(x: Any, inside: int, out: int, seed: int) -> Any:
    weights = np.random.default_rng(seed).standard_normal((out, inside)) / 8
    return opset.matmul(
        x, opset.convert(opset.constant(weights.astype(np.float16)), "f32"), False, True
    )


def _mlp(x: Any, activation: str, up_of: Any = None) -> Any:
    gate = ACTIVATIONS[activation](_linear(x, WIDTH, HIDDEN, 0))
    up = _linear(up_of or x, WIDTH, HIDDEN, 1)
    return _linear(opset.multiply(up, gate), HIDDEN, WIDTH, 2)


def _model(activation: str, shape: list[int]) -> Any:
    x = opset.parameter(shape, np.float32)
    return ov.Model([_mlp(x, activation)], [x])


def _run(model: Any, hint: str = "bf16") -> tuple[list[str], np.ndarray]:
    """Types of what runs with two threads, and a result."""
    properties = {"INFERENCE_PRECISION_HINT": hint, "INFERENCE_NUM_THREADS": 2}
    compiled = ov.Core().compile_model(model, "CPU", properties)
    x = np.random.default_rng(3).standard_normal((1, 3, WIDTH)).astype(np.float32)
    request = compiled.create_infer_request()
    request.infer([x], share_inputs=True)
    return running_types(compiled), request.get_output_tensor(0).data.copy()


@pytest.mark.parametrize("shape", [[1, 3, WIDTH], [1, -1, WIDTH], [-1, -1, WIDTH]])
@pytest.mark.parametrize("activation", ACTIVATIONS)
def test_nothing_is_fused_and_no_result_changes(activation: str, shape: list[int]) -> None:
    _, expected = _run(_model(activation, shape), "f32")
    model = _model(activation, shape)
    assert rewrite(model, ONE_THREAD)["unfused_mlp"] == 1
    types, actual = _run(model)
    assert FUSED not in types
    np.testing.assert_allclose(actual, expected, rtol=3e-2, atol=3e-2)


def test_several_threads_keep_the_fused_operation() -> None:
    if "amx_bf16" not in device.features()["flags"] or device.threads(2) < 2:
        pytest.skip("OpenVINO fuses no MLP on this machine")
    model = _model("silu with its factor", [1, 3, WIDTH])
    assert "unfused_mlp" not in rewrite(model, Target("bf16", exact=False))
    assert FUSED in _run(model)[0]


def test_a_product_that_may_broadcast_stays() -> None:
    x, other = (opset.parameter([1, -1, WIDTH], np.float32) for _ in range(2))
    model = ov.Model([_mlp(x, "gelu", up_of=other)], [x, other])
    assert "unfused_mlp" not in rewrite(model, ONE_THREAD)


def test_branches_are_rewritten() -> None:
    which = opset.parameter([], np.bool_)
    x = opset.parameter([1, 3, WIDTH], np.float32)
    branch = ov.op.if_op(which.output(0))
    bodies = [_model(activation, [1, 3, WIDTH]) for activation in ("silu", "gelu")]
    branch.set_then_body(bodies[0])
    branch.set_else_body(bodies[1])
    branch.set_input(x.output(0), *(body.get_parameters()[0] for body in bodies))
    result = branch.set_output(*(body.get_results()[0] for body in bodies))
    assert rewrite(ov.Model([result], [which, x]), ONE_THREAD)["unfused_mlp"] == 2


def test_bodies_of_loops_are_rewritten() -> None:
    x = opset.parameter([1, 3, WIDTH], np.float32)
    body = _model("silu", [1, 3, WIDTH])
    body = ov.Model(
        [*body.get_results(), opset.result(opset.constant(np.array(True)))], body.get_parameters()
    )
    loop = opset.loop(opset.constant(np.int64(2)), opset.constant(np.array(True)))
    loop.set_function(body)
    loop.set_special_body_ports([-1, 1])
    (inner,), (kept, _) = body.get_parameters(), body.get_results()
    loop.set_merged_input(inner, x.output(0), kept.output(0))
    model = ov.Model([loop.get_iter_value(kept.output(0), -1)], [x])
    assert rewrite(model, ONE_THREAD)["unfused_mlp"] == 1


# What may end a process runs in one of its own.
RUN = """
import json, os, sys
threads, streams, processors, path, cache = json.loads(sys.argv[1])
if processors:
    os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:processors])
import numpy as np
import pteron
from concurrent.futures import ThreadPoolExecutor
cache = pteron.cache.DirectoryCache(cache)
module = pteron.load(path, precision="fast", threads=threads, streams=streams, cache=cache)
x = np.random.default_rng(0).standard_normal((1, 3, 64)).astype(np.float32)
forks = [module, module.fork()]
with ThreadPoolExecutor(2) as pool:
    results = list(pool.map(lambda fork: [fork.forward(x) for _ in range(20)][-1], forks))
assert all(np.array_equal(a, b) for a, b in zip(*results))
print(json.dumps([np.asarray(y).tolist() for y in results[0]]))
"""


def _in_a_process(*given: Any) -> list[np.ndarray]:
    done = subprocess.run(
        [sys.executable, "-c", RUN, json.dumps(given)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, f"exit {done.returncode}: {done.stderr}"
    return [np.array(y) for y in json.loads(done.stdout)]


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> str:
    from coremltools.converters.mil import Builder as mb  # noqa: N813

    def weights(out: int, inside: int, seed: int) -> np.ndarray:
        values = np.random.default_rng(seed).standard_normal((out, inside)) / 8
        return values.astype(np.float32)

    def program(x: Any) -> tuple[Any, Any]:
        gate, up = (mb.linear(x=x, weight=weights(HIDDEN, WIDTH, seed)) for seed in (0, 1))
        return tuple(
            mb.linear(x=mb.mul(x=activated, y=up), weight=weights(WIDTH, HIDDEN, 2))
            for activated in (mb.silu(x=gate), mb.gelu(x=gate, mode="TANH_APPROXIMATION"))
        )

    source = mil_program(program, {"x": ("float32", (1, 3, WIDTH))})
    directory = tmp_path_factory.mktemp("package")
    for path in source.paths():
        target = directory / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(source.read(path))
    return str(directory / "model.mlpackage")


def test_no_number_of_threads_ends_the_process(package: str, tmp_path: Path) -> None:
    """Forks in two threads at once, with one cache for all, cold and again."""
    cases: list[tuple[int | None, int, int | None]] = [(1, 1, None), (2, 1, None), (1, 2, None)]
    cases += [(None, 2, None), (2, 2, None)]
    if hasattr(os, "sched_setaffinity"):
        cases += [(2, 1, 1), (None, 1, 1), (None, 2, 1)]
    results = [
        _in_a_process(threads, streams, processors, package, str(tmp_path))
        for threads, streams, processors in [*cases, *cases[:3]]
    ]
    for result in results[1:]:
        np.testing.assert_allclose(result, results[0], rtol=3e-2, atol=3e-2)
