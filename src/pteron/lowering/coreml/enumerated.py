"""A fixed list of shapes for inputs, instead of a range (``FeatureTypes.proto``, EnumeratedShapes).

The model is exported with sizes that vary within bounds. The sizes that each listed shape gives to
torch's symbols are then worked out for the inputs of every delegate, whatever it takes of the
program, and noted in its description: the n-th shapes of all inputs belong together.
"""

from __future__ import annotations

import inspect
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pteron.errors import LoweringError, UsageError

if TYPE_CHECKING:
    from torch.export import ExportedProgram

Shapes = Mapping[str, Sequence[Sequence[int]]]
"""Input name -> its shapes."""
Sizes = Mapping[Any, Sequence[int]]
"""Symbol of torch -> its value in each of the shapes."""


def call(
    model: Any, args: Sequence[Any], kwargs: Mapping[str, Any], shapes: Shapes
) -> tuple[tuple[Any, ...], dict[str, Any], Any]:
    """Inputs to export a method with, and ``torch.export``'s description of those that vary.

    torch takes a size of 1 in an example for one that is always 1: then the inputs are zeros of
    listed shapes without it, where there are any. The description is ``None`` if none varies.
    """
    bound = inspect.signature(getattr(model, "forward", model)).bind(*args, **kwargs)
    listed = {name: shapes[name] for name in bound.arguments if name in shapes}
    if not listed:
        return tuple(args), dict(kwargs), None
    described: dict[str, Any] = dict.fromkeys(bound.arguments)
    described |= {name: _axes(name, bound.arguments[name], shapes[name]) for name in listed}
    if any(bound.arguments[name].shape[axis] == 1 for name in listed for axis in described[name]):
        for name, shape in _without_ones(listed).items():
            bound.arguments[name] = bound.arguments[name].new_zeros(shape)
    return bound.args, bound.kwargs, described


def _axes(name: str, example: Any, shapes: Sequence[Sequence[int]]) -> Any:
    from torch.export import Dim

    if tuple(getattr(example, "shape", ())) not in [tuple(shape) for shape in shapes]:
        raise UsageError(
            f"enumerated_shapes: the example of input {name} has shape "
            f"{list(getattr(example, 'shape', ()))}, which is none of the listed ones"
        )
    bounds = [(min(sizes), max(sizes)) for sizes in zip(*shapes, strict=True)]
    return {
        axis: Dim.AUTO(min=low, max=high) for axis, (low, high) in enumerate(bounds) if low < high
    }


def _without_ones(shapes: Shapes) -> dict[str, Sequence[int]]:
    """The first shapes, belonging together, none of whose varying sizes is 1; else nothing."""
    varying = {
        name: [axis for axis, sizes in enumerate(zip(*listed, strict=True)) if len(set(sizes)) > 1]
        for name, listed in shapes.items()
    }
    for number in range(min(map(len, shapes.values()))):
        chosen = {name: listed[number] for name, listed in shapes.items()}
        if all(chosen[name][axis] > 1 for name, axes in varying.items() for axis in axes):
            return chosen
    return {}


def require_inputs(shapes: Shapes, programs: Mapping[str, ExportedProgram]) -> None:
    """Raise :class:`UsageError` for a name that is no input of any method."""
    inputs = {name for p in programs.values() for name in p.graph_signature.user_inputs}
    for name in shapes:
        if name not in inputs:
            known = ", ".join(sorted(map(str, inputs)))
            raise UsageError(f"enumerated_shapes: no input {name!r}; the inputs are {known}")


def sizes(program: ExportedProgram, shapes: Shapes) -> Sizes:
    """What each symbol of a program is in each of the shapes.

    Raises :class:`LoweringError` where the exported model fixes a size that the shapes vary.
    """
    found: dict[Any, Sequence[int]] = {}
    for node in program.graph.nodes:
        if node.op != "placeholder" or node.name not in shapes:
            continue
        for axis, (size, listed) in enumerate(
            zip(node.meta["val"].shape, zip(*shapes[node.name], strict=True), strict=True)
        ):
            if _varies(size):
                found[size.node.expr] = listed
            elif set(listed) != {int(size)}:
                raise LoweringError(
                    f"axis {axis} of input {node.name} is always {size} in the exported model, and "
                    f"enumerated_shapes lists {sorted(set(listed))}"
                )
    return found


def describe(model: Any, program: ExportedProgram, known: Sizes) -> None:
    """Replace the ranges in a Model message by the listed shapes."""
    nodes = {node.name: node for node in program.graph.nodes if node.op == "placeholder"}
    for feature in model.description.input:
        array = feature.type.multiArrayType
        if array.WhichOneof("ShapeFlexibility") != "shapeRange":
            continue
        columns = [_values(size, known) for size in nodes[feature.name].meta["val"].shape]
        count = max(len(column) for column in columns)
        rows = [[column[n % len(column)] for column in columns] for n in range(count)]
        array.ClearField("shapeRange")
        array.shape[:] = rows[0]
        for row in dict.fromkeys(map(tuple, rows)):
            array.enumeratedShapes.shapes.add(shape=row)


def _varies(size: Any) -> bool:
    """Whether a size is symbolic; torch also keeps sizes that it found to be constant as SymInt."""
    return not isinstance(size, int) and bool(size.node.expr.free_symbols)


def _values(size: Any, known: Sizes) -> Sequence[int]:
    """A size in each of the shapes; one value if it never varies."""
    if not _varies(size):
        return [int(size)]
    expression = size.node.expr
    used = [symbol for symbol in known if expression.has(symbol)]
    if len(used) < len(expression.free_symbols):
        raise LoweringError(
            f"size {size} does not follow from enumerated_shapes: list the shapes of every input "
            "that varies"
        )
    count = len(known[used[0]])
    return [int(expression.subs({s: known[s][n] for s in used})) for n in range(count)]
