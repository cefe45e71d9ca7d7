"""States that branches and loops read and write, call after call, against plain Python."""

from __future__ import annotations

import numpy as np
import pytest

from pteron.engines.base import EngineOptions
from pteron.errors import EngineError
from pteron.payloads.coreml.package import BACKEND_ID
from pteron.payloads.coreml.proto.model_pb2 import Model
from pteron.payloads.coreml.text import parse_program
from pteron.payloads.sources import FilesSource
from tests.engines.compiled_form import check_text_form
from tests.engines.oneop import _MANIFEST, ENGINE

PROGRAM = """
program(1.3)
{
    func main<ios18>(state<tensor<fp16, [2]>> s, state<tensor<fp16, [2]>> other,
                     tensor<fp16, [2]> x, tensor<int32, []> n) {
%s
    } -> (y);
}
"""
READ = '        tensor<fp16, [2]> y = read_state(input = s)[name = string("y")];'

COND = """
        bool big = greater(x = n, y = int32(2));
        tensor<fp16, [2]> z = cond(pred = big) {
            tensor<fp16, [2]> old = read_state(input = s);
            tensor<fp16, [2]> new = add(x = old, y = x);
            write_state(data = new, input = s);
        } -> (old) {
            write_state(data = x, input = other);
        } -> (x);
        tensor<fp16, [2]> a = read_state(input = s);
        tensor<fp16, [2]> b = read_state(input = other);
        tensor<fp16, [2]> c = add(x = a, y = b);
        tensor<fp16, [2]> y = add(x = c, y = z);
"""

LOOP = """
        int32 zero = const()[name = string("zero"), val = int32(0)];
        tensor<fp16, [2]> half = read_state(input = other);
        int32 end = while_loop(loop_vars = (zero)) (int32 i) {
            bool go = less(x = i, y = n);
        } -> (go) (int32 j) {
            tensor<fp16, [2]> old = read_state(input = s);
            bool odd = equal(x = j, y = int32(1));
            tensor<fp16, [2]> step = cond(pred = odd) {
                write_state(data = half, input = other);
                tensor<fp16, [2]> twice = add(x = x, y = x);
                tensor<fp16, [2]> seen = add(x = twice, y = half);
            } -> (seen) {
                write_state(data = x, input = other);
            } -> (x);
            tensor<fp16, [2]> new = add(x = old, y = step);
            write_state(data = new, input = s);
            int32 next = add(x = j, y = int32(1));
        } -> (next);
        tensor<fp16, [2]> y = read_state(input = s);
"""


def session(body: str):
    model = Model(specificationVersion=9)
    model.mlProgram.CopyFrom(parse_program((PROGRAM % body).encode(), "test"))
    files = {
        "model.mlpackage/Manifest.json": memoryview(_MANIFEST),
        "model.mlpackage/Data/model.mlmodel": memoryview(model.SerializeToString()),
    }
    source = FilesSource(BACKEND_ID, files)
    check_text_form(source)
    return ENGINE.compile_in_memory(source, EngineOptions()).new_session()


def cond(states: dict, x: np.ndarray, n: int) -> np.ndarray:
    if n > 2:
        z = states["s"]
        states["s"] = states["s"] + x
    else:
        states["other"] = z = x
    return states["s"] + states["other"] + z


def loop(states: dict, x: np.ndarray, n: int) -> np.ndarray:
    half = states["other"]
    for j in range(n):
        if j == 1:
            step, states["other"] = 2 * x + half, half
        else:
            step, states["other"] = x, x
        states["s"] = states["s"] + step
    return states["s"]


@pytest.mark.parametrize(("body", "reference"), [(COND, cond), (LOOP, loop)])
def test_writes_in_blocks_last(body: str, reference) -> None:
    stream = session(body)
    states = {name: np.zeros(2, np.float16) for name in ("s", "other")}
    for call, n in enumerate((3, 1, 0, 4, 2, 5)):
        x = np.float16([call + 1, -call])
        (actual,) = stream.run("main", [x, np.array(n, np.int32)])
        np.testing.assert_array_equal(actual, reference(states, x, n))
        for name, value in states.items():
            np.testing.assert_array_equal(stream.read_state(name), value)
    stream.reset_state("s")
    assert not stream.read_state("s").any()


def test_a_state_written_in_a_block_must_fit() -> None:
    body = COND.replace("write_state(data = x, input = other)", "write_state(data = n, input = s)")
    with pytest.raises(EngineError, match=r"write_state '.*state 's' is float16"):
        session(body)
