"""Gated MLPs, ``down(act(gate(x)) * up(x))``, as they look in a translated graph."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pteron.engines.openvino.passes.graph_walk import maker, readers, same, static_shape

_RESHAPES = ("Reshape", "Squeeze", "Unsqueeze", "Convert")
_ACTIVATIONS = frozenset(
    {
        *("Swish", "Gelu", "Sigmoid", "Tanh", "Erf", "Exp", "Negative", "Convert"),
        *("Add", "Subtract", "Multiply", "Divide", "Power"),
    }
)


def is_gated(node: Any) -> bool:
    """Whether a node is the product of a gated MLP, or at least looks like it."""
    if node.get_type_name() != "Multiply" or not _goes_to_linear(node.output(0)):
        return False
    one, other = node.input_value(0), node.input_value(1)
    return (_is_linear(one) or _is_linear(other)) and _same_shape(one, other)


def gated_layers(node: Any) -> Iterator[Any]:
    """The matrix products that the product of a gated MLP is computed from, one by one element."""
    sources = (source for value in node.input_values() for source in _sources(value))
    return filter(None, (maker(source, "MatMul") for source in sources))


def _goes_to_linear(output: Any) -> bool:
    """Whether a matrix product reads an output, perhaps in another shape."""
    return any(
        reader.get_type_name() == "MatMul"
        or (reader.get_type_name() in _RESHAPES and _goes_to_linear(reader.output(0)))
        for reader in readers(output)
    )


def _is_linear(output: Any) -> bool:
    """Whether an output is a matrix product, perhaps in another shape."""
    while reshape := maker(output, *_RESHAPES):
        output = reshape.input_value(0)
    return maker(output, "MatMul") is not None


def _same_shape(one: Any, other: Any) -> bool:
    """Whether two outputs always have the same shape.

    Where sizes are not known: both are computed, element by element, from linear layers of one x.
    """
    if one.get_partial_shape() != other.get_partial_shape():
        return False
    if static_shape(one) is not None:
        return True
    xs = [_input_of_linear(source) for value in (one, other) for source in _sources(value)]
    return xs[0] is not None and all(x is not None and same(x, xs[0]) for x in xs)


def _sources(output: Any) -> Iterator[Any]:
    """What an output is computed from, element by element, beside constants."""
    node = output.get_node()
    if node.get_type_name() not in _ACTIVATIONS:
        yield output
        return
    for value in node.input_values():
        if value.get_node().get_type_name() != "Constant":
            yield from _sources(value)


def _input_of_linear(output: Any) -> Any:
    node = maker(output, "MatMul")
    weights = static_shape(node.input_value(1)) if node else None
    return node.input_value(0) if weights is not None and len(weights) == 2 else None
