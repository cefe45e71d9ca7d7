"""Each call in a method's graph -> instructions."""

from __future__ import annotations

import operator
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from pteron.errors import LoweringError
from pteron.lowering.emit import kernels
from pteron.lowering.emit.builder import Builder
from pteron.lowering.emit.control_flow import ControlFlow
from pteron.lowering.outer import Delegate
from pteron.lowering.source import describe as describe_node
from pteron.lowering.stages import stage
from pteron.schema.program import Int

if TYPE_CHECKING:
    from torch._ops import OpOverload
    from torch.fx import Graph, Node


_ARITHMETIC = {
    operator.add: "add",
    operator.sub: "sub",
    operator.mul: "mul",
    operator.floordiv: "floordiv",
    operator.mod: "mod",
    operator.neg: "neg",
    operator.eq: "eq",
    operator.ge: "ge",
    operator.gt: "gt",
    operator.le: "le",
    operator.lt: "lt",
}
"""Python operators on sizes -> ``executorch_prim`` operators."""


class Calls:
    """Translates graphs node by node; ``index`` is where each node's value is in the plan."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.index: dict[Node, int | list[int]] = {}
        self.control_flow = ControlFlow(self)

    def graph(self, graph: Graph) -> None:
        """Every call of a graph, in order; its placeholders are in ``index`` already."""
        for node in graph.nodes:
            if node.op == "call_function":
                self.builder.at(node)
                with stage("a program cannot express an operation", node):
                    self._call(node)

    def argument(self, value: Any, kind: str) -> int:
        """Where a call's argument is: a node's value, or a constant declared as ``kind``."""
        return self._argument(value, kind, [])

    def single(self, node: Node) -> int:
        """Where a node's one value is."""
        index = self.index[node]
        if isinstance(index, list):
            raise LoweringError(f"{describe_node(node)} has several results where one is expected")
        return index

    def _call(self, node: Node) -> None:
        import torch

        higher = torch.ops.higher_order
        if node.target is operator.getitem:
            source, position = node.args
            results = self.index[source]
            self.index[node] = results[position] if isinstance(results, list) else results
        elif isinstance(node.target, Delegate):
            self._delegate(node, node.target)
        elif node.target is higher.cond:
            self.index[node] = self.control_flow.cond(node)
        elif node.target is higher.while_loop:
            self.index[node] = self.control_flow.while_loop(node)
        elif node.target is higher.map_impl:
            self.index[node] = self.control_flow.map(node)
        elif node.target is higher.scan:
            self.index[node] = self.control_flow.scan(node)
        elif node.target is higher.auto_functionalized_v2:
            self._functionalized(node)
        elif isinstance(node.meta.get("val"), (torch.SymInt, torch.SymFloat, torch.SymBool)):
            self._size(node)
        elif hasattr(node.target, "_schema"):
            self._kernel(node)
        else:
            raise LoweringError(f"a program cannot express {describe_node(node)}")

    def _results(self, node: Node) -> list[int]:
        value = node.meta["val"]
        parts = value if isinstance(value, (tuple, list)) else [value]
        return [self.builder.scratch(part) for part in parts]

    def _delegate(self, node: Node, delegate: Delegate) -> None:
        arguments = [self.single(source) for source in node.args]
        results = self._results(node)
        self.index[node] = results
        self.builder.delegate(
            delegate.backend_id, delegate.payload, delegate.compile_specs, arguments + results
        )

    # Operators

    def _kernel(self, node: Node) -> None:
        op = kernels.without_views(node.target)
        bound = kernels.bind(op, node.args, node.kwargs)
        if op._schema.is_mutable:
            results = [self.single(bound[_written(op)[0]])]
            self._invoke(op, self._arguments(op, bound, node), results)
            self.index[node] = results[0]
            return
        variant = kernels.out_variant(op)
        if variant is None:
            raise LoweringError(f"{describe_node(node)} has no variant with an out argument")
        arguments = self._arguments(variant, bound, node)
        results = self._results(node)
        several = isinstance(node.meta["val"], (tuple, list))
        listed = [self.builder.values.tensors(results, optional=False)] if several else results
        self.builder.keep(results)
        outs = listed if kernels.writes_a_list(variant) else results
        self._invoke(variant, arguments + outs, listed)
        self.index[node] = results if several else results[0]

    def _invoke(self, op: OpOverload, arguments: list[int], results: list[int]) -> None:
        overload = "" if op._overloadname == "default" else op._overloadname
        name = op._overloadpacket._qualified_op_name
        self.builder.kernel(name, overload, arguments + results)

    def _arguments(self, op: OpOverload, bound: dict[str, Any], node: Node) -> list[int]:
        beside = [source.meta["val"] for source in node.all_input_nodes]
        declared = [argument for argument in op._schema.arguments if not argument.is_out]
        return [self._argument(bound[a.name], a.type.str(), beside) for a in declared]

    def _argument(self, value: Any, kind: str, beside: Sequence[Any]) -> int:
        import torch

        values = self.builder.values
        if isinstance(value, torch.fx.Node):
            return self.single(value)
        if isinstance(value, (list, tuple)) and any(isinstance(v, torch.fx.Node) for v in value):
            if "Tensor" not in kind:
                return values.ints([self._argument(v, "int", beside) for v in value])
            indices = [None if v is None else self.single(v) for v in value]
            self.builder.keep(index for index in indices if index is not None)
            return values.tensors(indices, optional="Tensor?" in kind)
        if kind.startswith("Tensor") and isinstance(value, (bool, int, float)):
            return self.builder.constant(_tensor_beside(value, beside))
        return values.constant(value, kind)

    def _size(self, node: Node) -> None:
        """A number that is known only when the method runs: a size, or arithmetic on sizes."""
        import torch

        if node.target is torch.ops.aten.sym_size.int:
            name, overload = "aten::sym_size", "int"
        elif node.target in _ARITHMETIC:
            name, overload = f"executorch_prim::{_ARITHMETIC[node.target]}", "Scalar"
        else:
            raise LoweringError(f"a program cannot compute {describe_node(node)}")
        result = self.builder.values.add(Int(int_val=0))
        arguments = [self._argument(value, "Scalar", []) for value in node.args]
        self.builder.kernel(name, overload, [*arguments, result])
        self.index[node] = result

    # Operators that write their arguments

    def _functionalized(self, node: Node) -> None:
        """A custom operator that writes its arguments: it writes copies, which are the results."""
        import torch

        (op,) = node.args
        given = dict(node.kwargs)
        copy = torch.ops.aten.clone.out
        nothing = self.builder.values.constant(None, "MemoryFormat?")
        copies = [self.builder.scratch(base.meta["val"]) for base in given["_all_bases"]]
        for base, place in zip(given["_all_bases"], copies, strict=True):
            self._invoke(copy, [self.single(base), nothing, place], [place])
        arguments = [
            copies[given[f"_{a.name}_base_index"]]
            if f"_{a.name}_base_index" in given
            else self._argument(given.get(a.name, a.default_value), a.type.str(), [])
            for a in op._schema.arguments
        ]
        if any(f"_{name}_size" in given for name in _written(op)):
            raise LoweringError(
                f"{describe_node(node)} writes a view of a buffer: give it the whole buffer"
            )
        returned = node.meta["val"][: len(op._schema.returns) or 1]
        results = [self.builder.scratch(value) for value in returned if value is not None]
        self._invoke(op, arguments, results)
        self.builder.keep(copies)
        self.index[node] = [*(results or [-1]), *copies]


def _written(op: OpOverload) -> list[str]:
    """Names of the arguments that an operator writes."""
    arguments = op._schema.arguments
    return [str(a.name) for a in arguments if a.alias_info and a.alias_info.is_write]


def _tensor_beside(value: float, beside: Sequence[Any]) -> Any:
    """A plain number where an operator takes a tensor: rank 0, of the other operand's dtype."""
    import torch

    dtype = torch.tensor(value).dtype
    for other in beside:
        other_dtype = getattr(other, "dtype", None)
        if other_dtype is None:
            continue
        if other_dtype.is_floating_point or not dtype.is_floating_point:
            dtype = other_dtype
    return torch.tensor(value, dtype=dtype)
