"""Indices that a program wants validated: a call with one out of range fails, and changes nothing.

What is in range is the definition's: from 0 to below the size of the axis (coremltools
``ops/defs/iOS17/scatter_gather.py``).
"""

from __future__ import annotations

import numpy as np
import pytest

from pteron.engines.base import EngineOptions
from pteron.engines.openvino._import import ov
from pteron.engines.openvino.passes.paged_attention import available
from pteron.engines.openvino.state_slots import PagesSlot, kept_on_error
from pteron.errors import EngineError
from pteron.payloads.coreml.package import BACKEND_ID, CoreMLPackage
from pteron.payloads.coreml.proto.model_pb2 import Model
from pteron.payloads.coreml.text import parse_program
from pteron.payloads.sources import FilesSource
from tests.engines.compiled_form import check_text_form
from tests.engines.converted import compile_and_load
from tests.engines.oneop import _MANIFEST, ENGINE, operation, run
from tests.engines.passes.test_state_attention import STATES, payload, steps

X = np.arange(12, dtype=np.float32).reshape(3, 4)
ROW, GRID = np.float32([7, 8, 9, 10]), np.full((2, 4), 5, np.float32)
# op, its tensors, its constants, indices inside, outside, and what inside gives
CASES = [
    ("gather", {"x": X}, {}, [2, 0], [[2, 3], [-1, 0]], X[[2, 0]]),
    ("gather", {"x": X}, {}, 2, [3, -1], X[2]),
    ("gather", {"x": X}, {"axis": -1}, [[3, 1]], [[[4, 0]], [[0, -4]]], X[:, [[3, 1]]]),
    ("gather", {"x": X}, {"axis": 1, "batch_dims": 1}, [[3], [0], [1]], [[[3], [0], [4]]],
     np.float32([[3], [4], [9]])),
    ("gather_along_axis", {"x": X}, {"axis": 1}, [[3], [0], [1]], [[[3], [0], [4]]],
     np.float32([[3], [4], [9]])),
    ("gather_nd", {"x": X}, {}, [[2, 3], [0, 1]], [[[2, 3], [3, 1]], [[2, 4], [0, 1]]],
     np.float32([11, 1])),
    ("gather_nd", {"x": X}, {"batch_dims": 1}, [[3], [0], [1]], [[[-1], [0], [1]]],
     np.float32([3, 4, 9])),
    ("scatter", {"data": X, "updates": GRID}, {"mode": "update"}, [2, 0], [[2, 3], [-3, 0]],
     np.stack([GRID[0], X[1], GRID[0]])),
    ("scatter", {"data": X, "updates": GRID}, {"mode": "add"}, [1, 1], [[1, 3]],
     np.stack([X[0], X[1] + 10, X[2]])),
    ("scatter_along_axis", {"data": X, "updates": ROW[None]}, {"mode": "update"}, [[2, 2, 2, 2]],
     [[[2, 2, 2, 3]], [[-1, 2, 2, 2]]], np.stack([X[0], X[1], ROW])),
    ("scatter_nd", {"data": X, "updates": ROW[:1]}, {"mode": "update"}, [[1, 2]],
     [[[1, 4]], [[3, 0]], [[-1, 2]]], np.where(X == 6, 7, X)),
]  # fmt: skip


@pytest.mark.parametrize("kind", ["int32", "int8", "uint16", None])
@pytest.mark.parametrize(("op", "tensors", "constants", "inside", "outside", "expected"), CASES)
def test_indices_are_validated(op, tensors, constants, inside, outside, expected, kind) -> None:
    """When they are computed, in these dtypes, and when they are constants (None)."""

    def compute(indices, validate=True):
        given = {"indices": np.array(indices).astype(kind or "int32")}
        settings = {**constants, "validate_indices": validate}
        if kind is None:
            return run(op, tensors, {**settings, **given}, [expected])[0]
        return run(op, {**tensors, **given}, settings, [expected])[0]

    np.testing.assert_array_equal(compute(inside), expected)
    for indices in outside:
        with pytest.raises(EngineError, match="index is negative or not below") as raised:
            compute(indices)
        assert f"function 'main', {op} 'out0'" in str(raised.value)
        assert (raised.value.function, raised.value.op) == ("main", f"{op} 'out0'")
    compute(outside[0], validate=False)  # its result is undefined, and no error


@pytest.mark.parametrize("known", [False, True])
@pytest.mark.parametrize("kind", ["int32", "float32", "float16"])
def test_the_step_of_a_range_is_not_zero(kind, known) -> None:
    """OpenVINO divides integers by it, and the process ends."""
    ends = {"start": np.array(2, kind), "end": np.array(7, kind)}
    expected = np.arange(2, 7, 2).astype(kind)

    def compute(step):
        given = {"step": np.array(step, kind)}
        tensors, constants = (ends, given) if known else ({**ends, **given}, {})
        return run("range_1d", tensors, constants, [expected])[0]

    np.testing.assert_array_equal(compute(2), expected)
    with pytest.raises(EngineError, match="function 'main', range_1d 'out0': the step is 0"):
        compute(0)


PROGRAM = """
program(1.3)
{
    func main<ios18>(%s) {
%s
    } -> (%s);
}
"""
STEP = """
        tensor<fp32, [4]> row = gather(x = x, indices = i, axis = zero,
                                       validate_indices = yes)[name = string("row")];
"""


NEXT = """
        tensor<fp32, [1]> y = gather(x = row, indices = j, axis = zero, validate_indices = yes);
"""
CONSTANTS = """
        int32 zero = const()[name = string("zero"), val = int32(0)];
        int32 one = const()[name = string("one"), val = int32(1)];
        bool yes = const()[name = string("yes"), val = bool(true)];
"""


def program(body: str, inputs: str, outputs: str = "y") -> Model:
    model = Model(specificationVersion=9)
    text = PROGRAM % (inputs, CONSTANTS + body, outputs)
    model.mlProgram.CopyFrom(parse_program(text.encode(), "test"))
    return model


def packaged(model: Model) -> FilesSource:
    files = {
        "model.mlpackage/Manifest.json": memoryview(_MANIFEST),
        "model.mlpackage/Data/model.mlmodel": memoryview(model.SerializeToString()),
    }
    return FilesSource(BACKEND_ID, files)


def source(body: str, inputs: str, outputs: str = "y") -> FilesSource:
    made = packaged(program(body, inputs, outputs))
    check_text_form(made)
    return made


@pytest.fixture(params=["memory", "files"])
def compiled(request, tmp_path):
    """Compiles a source, in memory or by way of a cache's files."""

    def compile_(source: FilesSource, options: EngineOptions = EngineOptions()):  # noqa: B008
        if request.param == "memory":
            return ENGINE.compile_in_memory(source, options)
        return compile_and_load(source, options, tmp_path)

    return compile_


def index(value: int) -> np.ndarray:
    return np.array(value, np.int32)


INPUTS = "tensor<fp32, [3, 4]> x, int32 i"


def test_checks_are_no_outputs_and_tell_which_operation_failed(compiled) -> None:
    given = f"{INPUTS}, tensor<int32, [1]> j"
    model = compiled(source(STEP + NEXT, given, "y, row"), EngineOptions(profile=True))
    assert [v.name for v in model.functions["main"].outputs] == ["y", "row"]
    session = model.new_session()
    y, row = session.run("main", [X, index(1), np.int32([3])])
    np.testing.assert_array_equal(row, X[1])
    np.testing.assert_array_equal(y, X[1, 3:])
    for i, j, failed in ((3, 3, "row"), (1, 4, "y"), (-1, -1, "row")):
        with pytest.raises(EngineError) as raised:
            session.run("main", [X, index(i), np.int32([j])])
        assert raised.value.op == f"gather '{failed}'"
    np.testing.assert_array_equal(session.run("main", [X, index(2), np.int32([0])])[1], X[2])
    assert {op for time in session.op_times("main") for op in time.ops} <= {"y", "row"}


def test_a_program_without_checks_has_its_own_outputs_only() -> None:
    body = STEP.replace("validate_indices = yes", "validate_indices = no").replace("row", "y")
    no = '        bool no = const()[name = string("no"), val = bool(false)];'
    compiled = ENGINE.compile_in_memory(source(no + body, INPUTS), EngineOptions())
    (function,) = compiled._compiled.values()
    assert len(function.model.outputs) == 1
    assert function.checks == ()


STATEFUL = """
        tensor<fp32, [3, 4]> old = read_state(input = s);
        tensor<fp32, [3, 4]> new = add(x = old, y = x);
        write_state(data = new, input = s);
""" + STEP.replace("x = x", "x = new").replace("row", "y")


@pytest.mark.parametrize("precision", ["model", "f32", "fast"])
def test_a_call_that_fails_leaves_states_as_they_were(compiled, precision) -> None:
    made = source(
        STATEFUL.replace("fp32", "fp16"),
        f"state<tensor<fp16, [3, 4]>> s, {INPUTS}".replace("fp32", "fp16"),
    )
    session = compiled(made, EngineOptions(precision)).new_session()
    x = X.astype(np.float16)
    with pytest.raises(EngineError):
        session.run("main", [x, index(3)])
    assert not session.read_state("s").any()
    session.run("main", [x, index(0)])
    with pytest.raises(EngineError):
        session.run("main", [x, index(-1)])
    np.testing.assert_array_equal(session.read_state("s"), x)
    np.testing.assert_array_equal(session.run("main", [x, index(2)])[0], 2 * x[2])
    session.write_state("s", 4 * x)
    with pytest.raises(EngineError):
        session.run("main", [x, index(3)])
    np.testing.assert_array_equal(session.run("main", [x, index(1)])[0], 5 * x[1])


COND = (
    """
        bool big = greater(x = n, y = one);
        tensor<fp32, [4]> y = cond(pred = big) {
"""
    + STEP
    + """
        } -> (row) {
            tensor<fp32, [4]> other = gather(x = x, indices = n, axis = zero,
                                             validate_indices = yes);
        } -> (other);
"""
)
LOOP = """
        tensor<fp32, [4]> begin = const()[name = string("begin"),
                                          val = tensor<fp32, [4]>([0, 0, 0, 0])];
        tensor<fp32, [4]> y, int32 end = while_loop(loop_vars = (begin, i))
            (tensor<fp32, [4]> y0, int32 i0) {
            int32 left = sub(x = n, y = i0);
            int32 limit = gather(x = lengths, indices = i0, axis = zero, validate_indices = yes);
            bool go = less(x = i0, y = limit);
        } -> (go) (tensor<fp32, [4]> y1, int32 i1) {
            bool odd = equal(x = i1, y = one);
            tensor<fp32, [4]> row = cond(pred = odd) {
                int32 at = add(x = i1, y = n);
                tensor<fp32, [4]> a = gather(x = x, indices = at, axis = zero,
                                             validate_indices = yes);
            } -> (a) {
                tensor<fp32, [4]> b = gather(x = x, indices = i1, axis = zero,
                                             validate_indices = yes);
            } -> (b);
            tensor<fp32, [4]> sum = add(x = y1, y = row);
            int32 next = add(x = i1, y = one);
        } -> (sum, next);
"""


def test_branches_are_checked_where_they_are_taken(compiled) -> None:
    session = compiled(source(COND, f"{INPUTS}, int32 n")).new_session()
    for i, n, row in ((2, 5, 2), (9, 1, 1)):
        np.testing.assert_array_equal(session.run("main", [X, index(i), index(n)])[0], X[row])
    for i, n, failed in ((3, 5, "row"), (0, -1, "other")):
        with pytest.raises(EngineError, match=f"gather '{failed}'"):
            session.run("main", [X, index(i), index(n)])


def test_every_round_of_a_loop_is_checked(compiled) -> None:
    inputs = f"{INPUTS}, int32 n, tensor<int32, [?]> lengths"
    session = compiled(source(LOOP, inputs)).new_session()

    def sums(i, n, lengths):
        """x[i], then x[i + 1] and so on while i < lengths[i]; x[1 + n] for x[1]."""
        return session.run("main", [X, index(i), index(n), np.int32(lengths)])[0]

    np.testing.assert_array_equal(sums(0, 1, [3] * 5), X[0] + X[2] + X[2])
    np.testing.assert_array_equal(sums(4, 1, [3] * 5), np.zeros(4))
    for i, n, lengths, failed in (
        (0, 2, [3] * 5, "a"),  # in the middle round only
        (0, -2, [2] * 5, "a"),
        (2, 0, [4] * 5, "b"),  # in the last
        (5, 0, [9] * 5, "limit"),  # before the first
        (-1, 0, [3] * 5, "limit"),
        (0, 0, [3] * 2, "limit"),  # between rounds
    ):
        with pytest.raises(EngineError, match=f"gather '{failed}'"):
            sums(i, n, lengths)


def test_sizes_that_calls_decide() -> None:
    body = STEP.replace("row", "y")
    made = source(body, "tensor<fp32, [?, 4]> x, int32 i")
    session = ENGINE.compile_in_memory(made, EngineOptions()).new_session()
    np.testing.assert_array_equal(session.run("main", [X, index(2)])[0], X[2])
    with pytest.raises(EngineError, match="gather 'y'"):
        session.run("main", [X[:2], index(2)])


def test_indices_that_only_openvino_knows_beforehand() -> None:
    body = "int32 i = add(x = one, y = %s);" + STEP.replace("row", "y")
    for other, fits in (("one", True), ("int32(2)", False)):
        made = source(body % other, "tensor<fp32, [3, 4]> x")
        session = ENGINE.compile_in_memory(made, EngineOptions()).new_session()
        if fits:
            np.testing.assert_array_equal(session.run("main", [X])[0], X[2])
            continue
        with pytest.raises(EngineError, match="gather 'y'"):
            session.run("main", [X])


def test_pages_are_given_back_to_the_last_bit() -> None:
    slot = PagesSlot(ov.Type.bf16, (2, 1, 4, 2), 7)
    slot.write(np.linspace(-1e5, 3e-9, 14, dtype=np.float32).reshape(1, 1, 7, 2))
    before = slot.read()
    with pytest.raises(EngineError, match="failed"), kept_on_error([slot]):
        slot.write(None)
        raise EngineError("failed")
    assert slot.read().tobytes() == before.tobytes()


def test_every_stage_of_a_pipeline_is_checked(compiled) -> None:
    first = program(STEP, INPUTS, "row")
    last = program(NEXT, "tensor<fp32, [4]> row, tensor<int32, [1]> j", "y")
    model = Model(specificationVersion=9)
    for name in ("x", "i", "j"):
        model.description.input.add(name=name)
    model.description.output.add(name="y")
    model.pipeline.models.extend([first, last])
    session = compiled(packaged(model)).new_session()
    (y,) = session.run("main", [X, index(1), np.int32([3])])
    np.testing.assert_array_equal(y, X[1, 3:])
    for i, j, failed in ((3, 3, "row"), (1, 4, "y")):
        with pytest.raises(EngineError, match=f"gather '{failed}'"):
            session.run("main", [X, index(i), np.int32([j])])


@pytest.mark.skipif(not available(), reason="another OpenVINO, or processor")
def test_caches_updated_in_place_are_given_back(compiled) -> None:
    module, made = payload("grouped")
    package = CoreMLPackage(made)
    block = package.program.functions["main"].block_specializations["CoreML8"]
    table = np.zeros(8, np.float32)
    look = operation("gather", {}, {"x": table, "axis": 0, "validate_indices": True}, [table[:1]])
    look.inputs["indices"].arguments.add().name = "position"
    block.operations.append(look)
    model = compiled(
        FilesSource(
            made.backend_id,
            {path: made.read(path) for path in made.paths()}
            | {package.model_path: memoryview(package.model.SerializeToString())},
        )
    )
    assert model.compilations["main"].rewrites["state_attention"] == 1
    session, other = model.new_session(), model.new_session()
    for x, position in steps(module.heads * module.size):
        for bad in (8, -1):
            with pytest.raises(EngineError, match="gather 'out0'"):
                session.run("main", [x + 1, np.int32([bad])])
        (y,), (expected,) = (stream.run("main", [x, position]) for stream in (session, other))
        np.testing.assert_array_equal(y, expected)
        for name in STATES:
            np.testing.assert_array_equal(session.read_state(name), other.read_state(name))
