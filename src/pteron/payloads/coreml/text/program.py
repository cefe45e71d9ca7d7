"""From the text of a program to the same message that a package holds (``MIL.proto``).

The form, as Core ML's compiler writes it into ``model.mil``::

    program(1.0)
    [buildInfo = dict<tensor<string, []>, tensor<string, []>>({{"coremltools-version", "9.0"}})]
    {
        func main<ios16>(tensor<fp32, [1, 4]> x) {
                tensor<fp32, []> c = const()[name = tensor<string, []>("c"), val = ...];
                tensor<fp32, [1, 4]> y = mul(x = x, y = c)[name = tensor<string, []>("y")];
            } -> (y);
    }

Newer compilers write scalars without ``tensor<...>``: ``string("c")``. A nested block is read as a
function's: ``(inputs) { operations } -> (outputs)`` behind the operation it belongs to, the inputs
left out where there are none.
"""

from __future__ import annotations

from typing import Any

from pteron.errors import FormatError
from pteron.payloads.coreml.proto import mil_pb2 as mil
from pteron.payloads.coreml.text.cursor import Cursor
from pteron.payloads.coreml.text.types import read_type
from pteron.payloads.coreml.text.values import read_named_values, read_value

# The name of an opset in the text -> that in a package
_OPSETS = {
    "ios15": "CoreML5",
    "ios16": "CoreML6",
    "ios17": "CoreML7",
    "ios18": "CoreML8",
    "ios26": "CoreML9",
}


def parse_program(text: bytes | memoryview, where: str) -> mil.Program:
    """The program in UTF-8 ``text``. Raises FormatError, naming ``where`` and the line."""
    try:
        cursor = Cursor(bytes(text).decode("utf-8"), where)
    except UnicodeDecodeError as error:
        raise FormatError(f"not UTF-8 text: {error}", where=where) from None
    program = mil.Program()
    cursor.expect("program")
    cursor.expect("(")
    program.version = _version(cursor)
    cursor.expect(")")
    _attributes(cursor, program.attributes)
    cursor.expect("{")
    while not cursor.accept("}"):
        _function(cursor, program)
    cursor.take("end")
    return program


def _version(cursor: Cursor) -> int:
    major, _, minor = cursor.take("number").partition(".")
    if not major.isdecimal() or not minor.isdecimal() or len(major) > 9:
        raise cursor.fault("the program's version is no number like 1.0")
    return int(major)


def _function(cursor: Cursor, program: mil.Program) -> None:
    cursor.expect("func")
    name = cursor.take("name")
    if name in program.functions:
        raise cursor.fault(f"function '{name:.80}' is defined twice")
    function = program.functions[name]
    cursor.expect("<")
    opset = cursor.take("name")
    cursor.expect(">")
    function.opset = _OPSETS.get(opset, opset)
    _parameters(cursor, function.inputs)
    _attributes(cursor, function.attributes)
    _block(cursor, function.block_specializations[function.opset])
    cursor.expect(";")


def _parameters(cursor: Cursor, inputs: Any) -> None:
    cursor.expect("(")
    cursor.separated(lambda at: inputs.append(_named_type(at)), ")")


def _named_type(cursor: Cursor, head: str | None = None) -> mil.NamedValueType:
    type = read_type(cursor, head)
    return mil.NamedValueType(name=cursor.take("name"), type=type)


def _attributes(cursor: Cursor, attributes: Any) -> None:
    if cursor.accept("["):
        for name, value in read_named_values(cursor, "]").items():
            attributes[name].CopyFrom(value)


def _block(cursor: Cursor, block: mil.Block) -> None:
    cursor.expect("{")
    with cursor.nested():
        while not cursor.accept("}"):
            _operation(cursor, block.operations.add())
    cursor.expect("->")
    cursor.expect("(")
    cursor.separated(lambda at: block.outputs.append(at.take("name")), ")")


def _operation(cursor: Cursor, operation: mil.Operation) -> None:
    head = cursor.take("name")
    if cursor.text != "(":  # not an operation without outputs
        head = _outputs(cursor, operation, head)
    operation.type = head
    cursor.expect("(")
    cursor.separated(lambda at: _argument(at, operation), ")")
    _attributes(cursor, operation.attributes)
    while cursor.text in ("(", "{"):
        _nested_block(cursor, operation.blocks.add())
    cursor.expect(";")


def _outputs(cursor: Cursor, operation: mil.Operation, head: str) -> str:
    """The declared outputs, the first type of which begins with ``head``; gives what follows."""
    operation.outputs.append(_named_type(cursor, head))
    while cursor.accept(","):
        operation.outputs.append(_named_type(cursor))
    cursor.expect("=")
    return cursor.take("name")


def _argument(cursor: Cursor, operation: mil.Operation) -> None:
    name = cursor.take("name")
    if name in operation.inputs:
        raise cursor.fault(f"input '{name:.80}' is given twice")
    cursor.expect("=")
    bindings = operation.inputs[name].arguments
    if cursor.accept("("):
        cursor.separated(lambda at: bindings.append(_binding(at)), ")")
    else:
        bindings.append(_binding(cursor))


def _binding(cursor: Cursor) -> mil.Argument.Binding:
    """The name of a value, or a value itself."""
    word = cursor.take("name")
    if cursor.text in ("<", "("):
        return mil.Argument.Binding(value=read_value(cursor, word))
    return mil.Argument.Binding(name=word)


def _nested_block(cursor: Cursor, block: mil.Block) -> None:
    if cursor.text == "(":
        _parameters(cursor, block.inputs)
    _block(cursor, block)
