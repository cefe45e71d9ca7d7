"""The operations of a Core ML function and what they take from one another."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pteron.payloads.coreml.program import active_block, type_of
from pteron.payloads.coreml.proto import mil_pb2 as mil

_LONGEST = 120
"""Characters of a constant that are shown."""


def mil_function(
    name: str, function: mil.Function, state_names: Mapping[str, str]
) -> dict[str, Any]:
    """Inputs, states, outputs and operations of a function; constants stand where they are used.

    An operation has its type ``t``, the names of its outputs ``n`` with their types ``o``, what it
    takes as ``i`` ([parameter, operation or -1, value]) and ``c`` ([parameter, constant]), and
    for one in a nested block the path ``p`` of the operations around it. Names in ``state_names``
    are the model's own.
    """
    return _Function(state_names).plain(name, function)


@dataclass(frozen=True)
class _Placed:
    operation: mil.Operation
    path: tuple[str, ...]


class _Function:
    def __init__(self, state_names: Mapping[str, str]) -> None:
        self._state_names = state_names
        self._made: dict[str, int] = {}  # value -> operation
        self._constants: dict[str, str] = {}
        self._states: dict[str, str] = {}

    def plain(self, name: str, function: mil.Function) -> dict[str, Any]:
        block = active_block(function)
        values = [(v.name, v.type) for v in function.inputs]
        self._states = {
            v: self._state_names.get(v, v)
            for v, kind in values
            if kind.WhichOneof("type") == "stateType"
        }
        inputs = [[v, _type(kind)] for v, kind in values if v not in self._states]
        states = [[self._states[v], _type(kind)] for v, kind in values if v in self._states]
        operations = list(self._operations(block))
        return {
            "name": name,
            "inputs": inputs,
            "states": states,
            "outputs": [[value, self._made.get(value, -1)] for value in block.outputs],
            "ops": operations,
        }

    def _operations(self, block: mil.Block) -> Iterator[dict[str, Any]]:
        number = 0
        for placed in _walk(block):
            operation = placed.operation
            if operation.type == "const":
                text = _constant(operation)
                self._constants.update((output.name, text) for output in operation.outputs)
                continue
            yield self._plain(placed)
            self._made.update((output.name, number) for output in operation.outputs)
            number += 1

    def _plain(self, placed: _Placed) -> dict[str, Any]:
        operation = placed.operation
        plain: dict[str, Any] = {
            "t": operation.type,
            "n": [output.name for output in operation.outputs],
            "o": [_type(output.type) for output in operation.outputs],
        }
        taken, constants, state = self._arguments(operation)
        plain |= {"i": taken} if taken else {}
        plain |= {"c": constants} if constants else {}
        plain |= {"s": state} if state else {}
        return plain | ({"p": list(placed.path)} if placed.path else {})

    def _arguments(self, operation: mil.Operation) -> tuple[list[Any], list[Any], str]:
        taken: list[Any] = []
        constants: list[Any] = []
        state = ""
        for parameter in sorted(operation.inputs):
            for binding in operation.inputs[parameter].arguments:
                if binding.WhichOneof("binding") == "value":
                    constants.append([parameter, _text(binding.value)])
                elif binding.name in self._constants:
                    constants.append([parameter, self._constants[binding.name]])
                elif binding.name in self._states:
                    state = self._states[binding.name]
                else:
                    taken.append([parameter, self._made.get(binding.name, -1), binding.name])
        return taken, constants, state


def _walk(block: mil.Block) -> Iterator[_Placed]:
    """Every operation in order, those of nested blocks before the operation that holds them."""
    queue: list[tuple[Iterator[mil.Operation], tuple[str, ...], _Placed | None]]
    queue = [(iter(block.operations), (), None)]
    while queue:
        operations, path, holder = queue[-1]
        operation = next(operations, None)
        if operation is None:
            queue.pop()
            if holder is not None:
                yield holder
            continue
        placed = _Placed(operation, path)
        if not operation.blocks:
            yield placed
            continue
        inside = (*path, _label(operation))
        nested = (inner for part in operation.blocks for inner in part.operations)
        queue.append((nested, inside, placed))


def _label(operation: mil.Operation) -> str:
    return f"{operation.type} {operation.outputs[0].name if operation.outputs else ''}".strip()


def _constant(operation: mil.Operation) -> str:
    name = operation.outputs[0].name if operation.outputs else ""
    value = operation.attributes["val"] if "val" in operation.attributes else mil.Value()
    if value.WhichOneof("value") == "blobFileValue":
        return f"{name} ({_type(value.type)}, weight)"
    return _text(value)


def _text(value: mil.Value) -> str:
    """A constant's content if it is short, else its type."""
    if value.WhichOneof("value") == "blobFileValue":
        return f"{_type(value.type)}, weight"
    tensor = value.immediateValue.tensor
    kind = tensor.WhichOneof("value")
    if kind is None or kind == "bytes":
        return _type(value.type)
    content: Sequence[Any] = getattr(tensor, kind).values
    if len(content) > _LONGEST:
        return _type(value.type)
    text = ", ".join(str(item) for item in content)
    if len(text) > _LONGEST:
        return _type(value.type)
    return text if len(content) == 1 else f"[{text}]"


def _type(kind: mil.ValueType) -> str:
    dtype, shape = type_of(kind)
    if kind.WhichOneof("type") not in ("tensorType", "stateType"):
        return dtype
    return f"{dtype}[{', '.join('?' if size is None else str(size) for size in shape)}]"
