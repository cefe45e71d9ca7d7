"""Small questions to an OpenVINO graph, and small changes of it, that all passes share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

_BODIES: dict[str, list[tuple[int, ...]]] = {
    "If": [(0,), (1,)],
    "Loop": [()],
    "TensorIterator": [()],
}
"""What names each nested graph, by type of node."""


def maker(output: Any, *types: str) -> Any:
    """The node that gives an output if it is of one of these types, else None."""
    node = output.get_node()
    return node if node.get_type_name() in types else None


def constant(output: Any) -> NDArray[Any] | None:
    """The value of a constant, looking through conversions; None for anything else."""
    node = output.get_node()
    while node.get_type_name() == "Convert":
        node = node.input_value(0).get_node()
    return np.asarray(node.data) if node.get_type_name() == "Constant" else None


def scalar(output: Any) -> float | None:
    """The value of a constant of one element."""
    value = constant(output)
    return float(value.reshape(())) if value is not None and value.size == 1 else None


def state_read(output: Any) -> Any:
    """The node that reads the state that an output is, converted perhaps; else None."""
    converted = maker(output, "Convert")
    return maker(converted.input_value(0) if converted else output, "ReadValue")


def operands(node: Any) -> Iterator[tuple[Any, Any]]:
    """Both orders of a commutative node's two inputs."""
    first, second = node.input_value(0), node.input_value(1)
    yield first, second
    yield second, first


def same(one: Any, other: Any) -> bool:
    """Whether two outputs are one."""
    return bool(one == other)


def replace(old: Any, new: Any) -> None:
    """Give every reader of an output another one, which takes over the name."""
    name = old.get_node().friendly_name
    for reader in list(old.get_target_inputs()):
        reader.replace_source_output(new)
    old.get_node().friendly_name = f"{name}~"
    new.get_node().friendly_name = name


def readers(output: Any) -> list[Any]:
    """Nodes that read an output."""
    return [target.get_node() for target in output.get_target_inputs()]


def static_shape(output: Any) -> tuple[int, ...] | None:
    """The shape; None unless all of it is known."""
    shape = output.get_partial_shape()
    return None if shape.is_dynamic else tuple(int(n) for n in shape.to_shape())


def with_bodies(model: Any) -> Iterator[Any]:
    """A graph and all those nested in it: branches of conditions, bodies of loops."""
    yield model
    for node in model.get_ordered_ops():
        for place in _BODIES.get(node.get_type_name(), ()):
            yield from with_bodies(node.get_function(*place))
