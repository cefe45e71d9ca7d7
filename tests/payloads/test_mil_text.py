"""The text form of a program: what compiled models hold, and what is wrong with a damaged one."""

from __future__ import annotations

from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pteron.errors import FormatError
from pteron.payloads.coreml.proto import mil_pb2 as mil
from pteron.payloads.coreml.text import parse_program
from pteron.payloads.coreml.text.cursor import Cursor
from pteron.payloads.coreml.text.values import read_value
from pteron.payloads.packed import unpack
from tests.payloads.mil_printer import Printer

PROGRAM = """
program(1.3)
[buildInfo = dict<string, string>({{"coremlc-version", "3505.4.1"}, {"note", "a \\"b\\" \\\\ c"}})]
{
    func main<ios18>(tensor<fp16, [1, ?]> x, state<tensor<fp16, [1, 4]>> cache) [
        FlexibleShapeInformation = tuple<tuple<string, dict<string, tensor<int32, [?]>>>,
            tuple<string, dict<string, list<tensor<int32, [2]>, ?>>>>(
            (("DefaultShapes", {{"x", [1, 2]}}), ("RangeDims", {{"x", [[1, 1], [1, 8]]}})))] {
        tensor<fp16, [1, 4]> now = read_state(input = cache)[name = string("now")];
        write_state(data = now, input = cache)[name = string("keep")];
        bool yes = const()[name = string("yes"), val = bool(true)];
        tensor<int4, [2, 2]> w = const()[name = string("w"), val = tensor<int4, [2, 2]>([[-8, 7],
            [0, -1]])];
        tensor<fp16, [?, ?]> a, tensor<fp16, [?, ?]> b = split(axis = int32(1), x = x);
        tensor<fp16, [?, ?]> y = cond(pred = yes)[name = string("y")] {
            tensor<fp16, [?, ?]> inner = add(x = a, y = b);
        } -> (inner) {
        } -> (a);
        int32 n = while_loop(loop_vars = (k)) (int32 i) {
            bool go = less(x = i, y = int32(3));
        } -> (go) (int32 j) {
            int32 next = add(x = j, y = int32(1));
        } -> (next);
    } -> (y);
}
"""


def value(text: str) -> mil.Value:
    return read_value(Cursor(text, "test"))


def test_every_part_of_a_program_is_read() -> None:
    program = parse_program(PROGRAM.encode(), "model.mil")
    function = program.functions["main"]
    block = function.block_specializations["CoreML8"]
    assert (program.version, function.opset) == (1, "CoreML8")
    note = program.attributes["buildInfo"].immediateValue.dictionary.values[1].value
    assert note.immediateValue.tensor.strings.values == ['a "b" \\ c']
    assert [value.name for value in function.inputs] == ["x", "cache"]
    assert function.inputs[0].type.tensorType.rank == 2
    assert function.inputs[1].type.WhichOneof("type") == "stateType"
    shapes = function.attributes["FlexibleShapeInformation"].immediateValue.tuple.values
    ranges = shapes[1].immediateValue.tuple.values[1].immediateValue.dictionary.values[0].value
    pairs = [item.immediateValue.tensor.ints.values for item in ranges.immediateValue.list.values]
    assert pairs == [[1, 1], [1, 8]]
    read, write, _, w, split, cond, loop = block.operations
    assert (read.type, write.type, list(write.outputs)) == ("read_state", "write_state", [])
    packed = w.attributes["val"].immediateValue.tensor.bytes.values
    assert unpack(memoryview(packed), 4, 4, signed=True).tolist() == [-8, 7, 0, -1]
    assert [o.name for o in split.outputs] == ["a", "b"]
    assert split.inputs["axis"].arguments[0].value.immediateValue.tensor.ints.values == [1]
    assert [[o.type for o in b.operations] for b in cond.blocks] == [["add"], []]
    assert [[i.name for i in b.inputs] for b in loop.blocks] == [["i"], ["j"]]
    assert [b.outputs[0] for b in loop.blocks] == ["go", "next"]
    assert loop.inputs["loop_vars"].arguments[0].name == "k"
    assert list(block.outputs) == ["y"]


def test_what_is_read_and_printed_is_read_the_same() -> None:
    program = parse_program(PROGRAM.encode(), "model.mil")
    for short in (False, True):
        again = parse_program(Printer(short).program(program).encode(), "model.mil")
        assert again == program


def test_the_corpus_is_read_without_loss(corpus: Path) -> None:
    for path in sorted(corpus.glob("coreml/*.mlmodelc/model.mil")):
        program = parse_program(path.read_bytes(), "model.mil")
        assert Printer().program(program) == path.read_text().rstrip("\n")


@pytest.mark.parametrize(
    ("text", "dtype", "expected"),
    [
        ("tensor<fp16, [3]>([0x1.388p+13, -0x1p-24, 0.5])", np.float16, [1e4, -(2.0**-24), 0.5]),
        ("tensor<fp16, [3]>([inf, -inf, nan])", np.float16, [np.inf, -np.inf, np.nan]),
        ("tensor<int8, [2, 2]>([[-128, 127], [0, 1]])", np.int8, [-128, 127, 0, 1]),
        ("uint8(255)", np.uint8, [255]),
        ("uint32(4294967295)", np.uint32, [2**32 - 1]),
    ],
)
def test_elements_kept_as_bytes(text, dtype, expected) -> None:
    held = np.frombuffer(value(text).immediateValue.tensor.bytes.values, dtype)
    np.testing.assert_array_equal(held, np.array(expected, dtype))


@pytest.mark.parametrize(
    ("text", "field", "expected"),
    [
        ("fp32(0x1.8p+1)", "floats", [3.0]),
        ("fp64(1e300)", "doubles", [1e300]),
        ("tensor<bool, [2]>([true, false])", "bools", [True, False]),
        ("int16(-5)", "ints", [-5]),
        ("int64(-9223372036854775808)", "longInts", [-(2**63)]),
        ('tensor<string, [2]>(["a\\nb", ""])', "strings", ["a\nb", ""]),
        ("tensor<fp32, [0]>([])", "floats", []),
    ],
)
def test_elements_with_a_list_of_their_own(text, field, expected) -> None:
    tensor = value(text).immediateValue.tensor
    assert tensor.WhichOneof("value") == field
    assert list(getattr(tensor, field).values) == expected


def test_a_weight_in_a_file() -> None:
    read = value('tensor<fp16, [9]>(BLOBFILE(path = string("@model_path/w"), offset = uint64(64)))')
    assert (read.blobFileValue.fileName, read.blobFileValue.offset) == ("@model_path/w", 64)


BODY = "program(1.0)\n{\n    func main<ios16>(fp16 x) {\n%s\n    } -> (x);\n}"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "line 1: expected 'program', found the end"),
        ("program(x)", "expected a number, found 'x'"),
        ("program(1)", "version is no number like 1.0"),
        ("program(1.0) { func main", "found the end"),
        ("program(1.0) {} more", "expected a end"),
        ("program(1.0) { $ }", "'\\$' is no part of a program"),
        (BODY % 'fp16 y = const()[val = fp16("no end)];', "no part of a program"),
        (BODY % "fp16 y = relu(x = x, x = x);", "line 4: input 'x' is given twice"),
        (BODY % "fp16 y = const()[a = bool(true), a = bool(true)];", "'a' is given twice"),
        (BODY % "fp99 y = relu(x = x);", "no type 'fp99'"),
        (BODY % "tensor<fp99, []> y = relu(x = x);", "no element type 'fp99'"),
        (BODY % "tensor<fp16, [-1]> y = relu(x = x);", "-1 is no size"),
        (BODY % f"tensor<fp16, [{10**30}]> y = relu(x = x);", "is no size"),
        (BODY % "fp16 y = f(x = int8(128));", "a number does not fit int8"),
        (BODY % "fp16 y = f(x = uint4(-1));", "a number does not fit uint4"),
        (BODY % "fp16 y = f(x = bool(1));", "neither true nor false"),
        (BODY % "fp16 y = f(x = fp16(true));", "could not convert"),
        (BODY % "fp16 y = f(x = int32(0x1p+1));", "invalid literal"),
        (
            BODY % "fp16 y = f(x = tensor<int32, [3]>([1, 2]));",
            "2 elements for a tensor of \\[3\\]",
        ),
        (BODY % "fp16 y = f(x = int32(BLOBFILE(path = int32(1))));", "one path"),
        (BODY % "fp16 y = f(x = state<fp16>(1));", "no constants of stateType"),
        (BODY % ("fp16 y = cond(p = x) {" * 80), "nested more than 64 deep"),
        (BODY % ("list<" * 99), "nested more than 64 deep"),
        (BODY % ("fp16 y = f(x = int32(" + "[" * 9999), "nested more than 64 deep"),
        ("program(1.0) { func f<ios16>() {} -> (); func f<ios16>() {} -> (); }", "defined twice"),
    ],
)
def test_damaged_text_is_an_error_with_its_line(text, message) -> None:
    with pytest.raises(FormatError, match=message) as caught:
        parse_program(text.encode(), "model.mil")
    assert caught.value.where.startswith("model.mil, line ")


def test_bytes_that_are_no_text() -> None:
    with pytest.raises(FormatError, match="not UTF-8"):
        parse_program(b"program(\xff)", "model.mil")


@given(st.data())
def test_any_damage_is_read_or_refused(data) -> None:
    """A few bytes cut out, put in or exchanged: a program or a FormatError, nothing else."""
    text = bytearray(PROGRAM.encode())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(text)))
        cut = data.draw(st.integers(0, 8))
        text[at : at + cut] = data.draw(st.sampled_from(PIECES) | st.binary(max_size=4))
    with suppress(FormatError):
        parse_program(bytes(text), "model.mil")


PIECES = [b"(", b"{", b"[", b"<", b">", b"tensor<", b"= ", b"nan", b"-", b"0x", b'"', b",", b"?"]
