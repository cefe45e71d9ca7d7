"""What parts of a model come to for every position that its input may give.

Which rows attention may see, and which row of a state is written, programs compute from a position
that they get as an input. That such a computation is what it looks like is not guessed from its
form but found by doing it, once for every position.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import blake2b
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pteron.engines.openvino._import import opset, ov
from pteron.engines.openvino.passes.graph_walk import replace, static_shape
from pteron.engines.openvino.passes.known_shapes import asks_for_shape

_EXACT = {"INFERENCE_PRECISION_HINT": "f32", "NUM_STREAMS": 1, "INFERENCE_NUM_THREADS": 1}


def position_of(outputs: Sequence[Any]) -> Any:
    """The one input on whose value, not only its shape, outputs depend, a single int32.

    None if there are others, or states.
    """
    found = [node for node in _upstream(outputs, values_only=True) if _is_source(node)]
    if len(found) != 1 or found[0].get_type_name() != "Parameter":
        return None
    return found[0] if is_position(found[0]) else None


def is_position(parameter: Any) -> bool:
    """Whether an input can be a position: a single int32."""
    is_int = parameter.get_element_type() == ov.Type.i32
    return is_int and static_shape(parameter.output(0)) in ((), (1,))


def depends_on_call(output: Any) -> bool:
    """Whether inputs or states, or only their shapes, go into an output."""
    return any(_is_source(node) for node in _upstream([output], values_only=False))


def _is_source(node: Any) -> bool:
    return node.get_type_name() in ("Parameter", "ReadValue")


def _upstream(outputs: Sequence[Any], values_only: bool) -> list[Any]:
    """Nodes that outputs are computed by, up to inputs and states."""
    found: dict[str, Any] = {}
    waiting = [output.get_node() for output in outputs]
    while waiting:
        node = waiting.pop()
        if node.get_name() in found:
            continue
        found[node.get_name()] = node
        inputs = [] if _is_source(node) else node.input_values()
        if values_only and inputs and asks_for_shape(node) and _has_own_shape(inputs[0]):
            inputs = inputs[1:]
        waiting += [value.get_node() for value in inputs]
    return list(found.values())


def _has_own_shape(value: Any) -> bool:
    """Whether the shape of a value comes from no other value."""
    return _is_source(value.get_node()) or static_shape(value) is not None


def at_every_position(
    outputs: Sequence[Any], parameter: Any, count: int
) -> Iterator[list[NDArray[Any]]]:
    """Values of outputs at positions 0 to ``count - 1``, valid until the next are asked for.

    Other inputs, of which only the shapes may count, have to be of fixed shape.
    """
    inputs = [n for n in _upstream(outputs, values_only=False) if n.get_type_name() == "Parameter"]
    others = [node for node in inputs if node != parameter]
    model = _part(outputs, [parameter, *others])
    request = ov.Core().compile_model(model, "CPU", _EXACT).create_infer_request()
    for index, node in enumerate(others, 1):
        shape = node.get_partial_shape().to_shape()
        request.set_input_tensor(index, ov.Tensor(node.get_element_type(), shape))
    shape = static_shape(parameter.output(0)) or ()
    for position in range(count):
        request.infer({0: np.full(shape, position, np.int32)})
        yield [request.get_output_tensor(index).data for index in range(len(outputs))]


def _part(outputs: Sequence[Any], parameters: list[Any]) -> Any:
    """A model of its own that computes outputs; states in it are zeros."""
    results = [opset.result(output) for output in outputs]
    model = ov.Model(results, parameters, "positions").clone()
    for node in model.get_ordered_ops():
        if node.get_type_name() == "ReadValue":
            shape = node.output(0).get_partial_shape().to_shape()
            zeros = opset.constant(np.zeros(shape, np.float32), node.get_element_type())
            replace(node.output(0), zeros.output(0))
    return model


def form(output: Any) -> str:
    """A digest of how an output is computed: equal for what is computed alike.

    States are told apart by their shapes only, and so are values of which only the shape is asked.
    """
    return _Forms().of(output)


class _Forms:
    def __init__(self) -> None:
        self._known: dict[str, str] = {}

    def of(self, output: Any) -> str:
        node = output.get_node()
        name = node.get_name()
        if name not in self._known:
            self._known[name] = self._digest(node)
        return f"{self._known[name]}:{output.get_index()}"

    def _digest(self, node: Any) -> str:
        kind = node.get_type_name()
        digest = blake2b(digest_size=16)
        digest.update(f"{kind} {node.output(0).get_partial_shape()}".encode())
        if kind == "Parameter":
            digest.update(node.get_name().encode())
        elif kind == "Constant":
            digest.update(f"{node.get_element_type()}".encode() + np.asarray(node.data).tobytes())
        elif kind == "ShapeOf" and static_shape(node.input_value(0)) is not None:
            digest.update(f"{node.input_value(0).get_partial_shape()}".encode())
        elif kind != "ReadValue":
            digest.update(repr(sorted(node.get_attributes().items())).encode())
            for value in node.input_values():
                digest.update(self.of(value).encode())
        return digest.hexdigest()
