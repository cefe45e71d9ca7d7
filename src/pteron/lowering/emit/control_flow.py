"""Branches and loops -> jumps.

A branch or loop body is written out where it stands. Values that meet at the end of branches, or
that go round a loop, have a place of their own, into which they are copied.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pteron.lowering.subgraphs import Nested, attribute, nested, results
from pteron.schema.program import Bool, Double, Int, TensorShapeDynamism

if TYPE_CHECKING:
    from torch.fx import Node

    from pteron.lowering.emit.calls import Calls


class ControlFlow:
    """Writes ``cond``, ``while_loop``, ``map`` and ``scan`` through the calls of their graphs."""

    def __init__(self, calls: Calls) -> None:
        self.calls = calls
        self.builder = calls.builder

    def cond(self, node: Node) -> list[int]:
        """Both branches in turn, each jumped over unless it is its turn."""
        if_true, if_false = nested(node)
        places = [self._place(value) for value in node.meta["val"]]
        skip = self.builder.jump_unless(self.calls.argument(node.args[0], "bool"))
        self._set(places, self._run(if_true, self._operands(if_true.operands)))
        leave = self.builder.jump_unless(self._constant(False, "bool"))
        self.builder.land(skip)
        self._set(places, self._run(if_false, self._operands(if_false.operands)))
        self.builder.land(leave)
        return places

    def while_loop(self, node: Node) -> list[int]:
        """The condition, a jump out, the body, a jump back."""
        condition, body = nested(node)
        first, others = node.args[2], node.args[3]
        places = [self._place(value) for value in node.meta["val"]]
        self._set(places, self._operands(first))
        operands = [*places, *self._operands(others)]
        with self.builder.loop() as leave_unless:
            leave_unless(*self._run(condition, operands))
            new = self._run(body, operands)
            self._set(places, [self._apart(index, places) for index in new])
        return places

    def map(self, node: Node) -> list[int]:
        """The body for each row, its results written to the same row of the results."""
        _, rows, others = node.args
        (body,) = nested(node)
        stacked = [self._rows(value) for value in node.meta["val"]]
        shared = self._operands(others)
        with self._each_row(rows) as (index, items):
            self._write_rows(stacked, self._run(body, [*items, *shared]), index)
        return stacked

    def scan(self, node: Node) -> list[int]:
        """As ``map``, with values that go from one row to the next."""
        _, first, rows, others = node.args
        (body,) = nested(node)
        count = len(first)
        places = [self._place(value) for value in node.meta["val"][:count]]
        stacked = [self._rows(value) for value in node.meta["val"][count:]]
        self._set(places, self._operands(first))
        shared = self._operands(others)
        with self._each_row(rows) as (index, items):
            new = self._run(body, [*places, *items, *shared])
            self._write_rows(stacked, new[count:], index)
            self._set(places, [self._apart(value, places) for value in new[:count]])
        return [*places, *stacked]

    # Graphs

    def _operands(self, values: Sequence[Any]) -> list[int]:
        return [self.calls.argument(value, "") for value in values]

    def _run(self, part: Nested, operands: Sequence[int]) -> list[int]:
        """Write out a graph; where its results are."""
        for placeholder, index in zip(part.placeholders, operands, strict=True):
            self.calls.index[placeholder] = index
        for node in part.graph.find_nodes(op="get_attr"):
            if hasattr(attribute(node), "shape"):
                self.calls.index[node] = self.builder.constant(attribute(node))
        self.calls.graph(part.graph)
        return [self.calls.argument(value, "") for value in results(part.graph)]

    # Places

    def _place(self, value: Any) -> int:
        """Room for a value like ``value``."""
        import torch

        if hasattr(value, "shape"):
            return self.builder.scratch(value)
        if isinstance(value, (bool, torch.SymBool)):
            return self.builder.values.add(Bool(bool_val=False))
        if isinstance(value, (float, torch.SymFloat)):
            return self.builder.values.add(Double(double_val=0.0))
        return self.builder.values.add(Int(int_val=0))

    def _set(self, places: Sequence[int], values: Sequence[int]) -> None:
        for place, value in zip(places, values, strict=True):
            if place == value:
                continue
            if self.builder.is_tensor(place):
                self._copy(value, place)
            else:
                self.builder.move(value, place)
        self.builder.keep(places)

    def _copy(self, source: int, target: int) -> None:
        nothing = self._constant(None, "MemoryFormat?")
        self.builder.kernel("aten::clone", "out", [source, nothing, target, target])

    def _apart(self, index: int, places: Sequence[int]) -> int:
        """A value that goes round again: of another place, a copy, since that is written too."""
        if index not in places:
            return index
        copy = self.builder.like(index)
        self._set([copy], [index])
        return copy

    # Rows

    @contextmanager
    def _each_row(self, rows: Sequence[Node]) -> Iterator[tuple[int, list[int]]]:
        """A loop over the first axis of some tensors: the index, and a row of each."""
        stop = self._length(rows[0])
        index = self.builder.values.add(Int(int_val=0))
        going = self.builder.values.add(Bool(bool_val=False))
        items = [self.builder.scratch(row.meta["val"][0]) for row in rows]
        self.builder.move(self._constant(0, "int"), index)
        with self.builder.loop() as leave_unless:
            self.builder.kernel("executorch_prim::lt", "Scalar", [index, stop, going])
            leave_unless(going)
            axis = self._constant(0, "int")
            for row, item in zip(rows, items, strict=True):
                source = self.calls.single(row)
                args = [source, axis, index, item, item]
                self.builder.kernel("aten::select_copy", "int_out", args)
            yield index, items
            one = self._constant(1, "int")
            self.builder.kernel("executorch_prim::add", "Scalar", [index, one, index])

    def _length(self, row: Node) -> int:
        size = row.meta["val"].shape[0]
        return self._constant(size, "int") if isinstance(size, int) else self._size_of(row)

    def _size_of(self, node: Node) -> int:
        size = self.builder.values.add(Int(int_val=0))
        args = [self.calls.single(node), self._constant(0, "int"), size]
        self.builder.kernel("aten::sym_size", "int", args)
        return size

    def _rows(self, value: Any) -> int:
        """Room for rows; the runtime counts those that are written by resizing the tensor."""
        index = self.builder.scratch(value)
        self.builder.tensor(index).shape_dynamism = TensorShapeDynamism.DYNAMIC_BOUND
        return index

    def _write_rows(self, stacked: Sequence[int], values: Sequence[int], index: int) -> None:
        for target, value in zip(stacked, values, strict=True):
            args = [target, value, index]
            self.builder.kernel("executorch_prim::et_copy_index", "tensor", args)

    def _constant(self, value: Any, kind: str) -> int:
        return self.builder.values.constant(value, kind)
