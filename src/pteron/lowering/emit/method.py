"""One method's graph -> its ExecutionPlan."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from pteron.errors import LoweringError
from pteron.lowering import memory
from pteron.lowering.emit import kernels
from pteron.lowering.emit.blobs import Blobs
from pteron.lowering.emit.tensors import content, describe, nbytes
from pteron.lowering.emit.values import Values
from pteron.lowering.outer import Delegate, Outer
from pteron.lowering.source import describe as describe_node
from pteron.schema.program import (
    AllocationDetails,
    BackendDelegate,
    BackendDelegateDataReference,
    Chain,
    CompileSpec,
    ContainerMetadata,
    DataLocation,
    DelegateCall,
    ExecutionPlan,
    ExtraTensorInfo,
    Instruction,
    KernelCall,
    Operator,
    Tensor,
)

if TYPE_CHECKING:
    from torch.fx import Node

SCRATCH, STATE = 1, 2
"""Memory ids: values of one call; buffers that outlive calls, at the same place in every method."""


class ProgramData:
    """What the methods of one file share: constants, first values, payloads, places of state."""

    def __init__(self, state: memory.Arena[str]) -> None:
        self.constants = Blobs()
        self.mutable_data = Blobs()
        self.payloads = Blobs()
        self.state = state


def emit(outer: Outer, data: ProgramData) -> ExecutionPlan:
    """Write a method as tables of program.fbs.

    Raises :class:`LoweringError` naming an operation that a program cannot express.
    """
    return _MethodEmitter(outer, data).emit()


class _MethodEmitter:
    def __init__(self, outer: Outer, data: ProgramData) -> None:
        self.outer = outer
        self.data = data
        self.values = Values()
        self.index: dict[Node, int | list[int]] = {}
        self.instructions: list[Instruction] = []
        self.operators: dict[tuple[str, str], int] = {}
        self.delegates: list[BackendDelegate] = []
        self.scratch: dict[int, memory.Lifetime] = {}

    def emit(self) -> ExecutionPlan:
        for node in self.outer.graph.nodes:
            if node.op == "placeholder":
                self._placeholder(node)
        for node in self.outer.graph.nodes:
            if node.op == "call_function":
                self._call(node)
        outputs = [self._output(value) for value in self.outer.outputs]
        arena = self._allocate()
        return ExecutionPlan(
            name=self.outer.name,
            container_meta_type=ContainerMetadata(
                encoded_inp_str=_tree(self.outer.in_spec),
                encoded_out_str=_tree(self.outer.out_spec),
            ),
            values=self.values.table,
            inputs=[self._single(node) for node in self.outer.inputs],
            outputs=outputs,
            chains=[Chain(inputs=[], outputs=[], instructions=self.instructions, stacktrace=None)],
            operators=[Operator(name=n, overload=o) for n, o in self.operators],
            delegates=self.delegates,
            non_const_buffer_sizes=[0, arena.size]
            + ([self.data.state.size] if self.data.state.size else []),
        )

    # Values

    def _placeholder(self, node: Node) -> None:
        value = node.meta["val"]
        if node in self.outer.constants:
            self.index[node] = self._constant(self.outer.constants[node])
        elif node in self.outer.state:
            self.index[node] = self._state(value, self.outer.state[node])
        elif hasattr(value, "shape"):
            self.index[node] = self._scratch(_named(describe(value), str(node.target)))
        else:
            self.index[node] = self.values.constant(value, "")

    def _constant(self, name: str) -> int:
        value = self.outer.tensors[name]
        tensor = describe(value)
        tensor.data_buffer_idx = self.data.constants.add(content(value))
        return self.values.add(tensor)

    def _state(self, value: Any, name: str) -> int:
        tensor = describe(value)
        tensor.allocation_info = _place(STATE, self.data.state.offsets[name])
        tensor.extra_tensor_info = ExtraTensorInfo(fully_qualified_name=name)
        first = content(self.outer.tensors[name])
        if any(first):
            tensor.data_buffer_idx = self.data.mutable_data.add(first)
        return self.values.add(tensor)

    def _scratch(self, tensor: Tensor) -> int:
        now = len(self.instructions)
        index = self.values.add(tensor)
        self.scratch[index] = memory.Lifetime(nbytes(tensor), now, now)
        return index

    def _touch(self, indices: Any) -> None:
        now = len(self.instructions)
        for index in indices if isinstance(indices, list) else [indices]:
            if index in self.scratch:
                life = self.scratch[index]
                self.scratch[index] = memory.Lifetime(life.size, life.first, now)

    def _single(self, node: Node) -> int:
        index = self.index[node]
        if isinstance(index, list):
            raise LoweringError(f"{describe_node(node)} has several results where one is expected")
        return index

    def _output(self, value: Any) -> int:
        import torch

        if isinstance(value, torch.fx.Node):
            index = self._single(value)
            self._touch(index)
            return index
        return self.values.constant(value, "")

    def _allocate(self) -> memory.Arena[int]:
        arena = memory.plan(self.scratch)
        for index, offset in arena.offsets.items():
            tensor = self.values.table[index].val
            assert isinstance(tensor, Tensor)
            tensor.allocation_info = _place(SCRATCH, offset)
        return arena

    # Instructions

    def _call(self, node: Node) -> None:
        if node.target is operator.getitem:
            source, position = node.args
            results = self.index[source]
            self.index[node] = results[position] if isinstance(results, list) else results
        elif isinstance(node.target, Delegate):
            self._delegate(node, node.target)
        elif hasattr(node.target, "_schema"):
            self._kernel(node)
        else:
            raise LoweringError(f"a program cannot express {describe_node(node)}")

    def _delegate(self, node: Node, delegate: Delegate) -> None:
        arguments = [self._single(source) for source in node.args]
        self._touch(arguments)
        results = self._results(node)
        self.index[node] = results
        self.delegates.append(
            BackendDelegate(
                id=delegate.backend_id,
                processed=BackendDelegateDataReference(
                    location=DataLocation.INLINE, index=self.data.payloads.add(delegate.payload) - 1
                ),
                compile_specs=[
                    CompileSpec(key=key, value=value)
                    for key, value in delegate.compile_specs.items()
                ],
            )
        )
        call = DelegateCall(delegate_index=len(self.delegates) - 1, args=arguments + results)
        self.instructions.append(Instruction(instr_args=call))

    def _results(self, node: Node) -> list[int]:
        value = node.meta["val"]
        parts = value if isinstance(value, (tuple, list)) else [value]
        return [self._scratch(describe(part)) for part in parts]

    def _kernel(self, node: Node) -> None:
        op = kernels.without_views(node.target)
        bound = kernels.bind(op, node.args, node.kwargs)
        if op._schema.is_mutable:
            variant, results = op, [self._single(bound[_written(op)])]
        else:
            found = kernels.out_variant(op)
            if found is None:
                raise LoweringError(f"{describe_node(node)} has no variant with an out argument")
            variant, results = found, self._results(node)
        beside = [source.meta["val"] for source in node.all_input_nodes]
        arguments = [
            self._argument(bound[a.name], a.type, beside)
            for a in variant._schema.arguments
            if not a.is_out
        ]
        self._touch(arguments + results)
        as_list = [self.values.tensors(results, optional=False)] if _is_tuple(node) else results
        outs = as_list if kernels.writes_a_list(variant) else results
        returned = as_list
        if op._schema.is_mutable:
            outs = []
        self.index[node] = results[0] if len(results) == 1 and not _is_tuple(node) else results
        call = KernelCall(op_index=self._operator(variant), args=arguments + outs + returned)
        self.instructions.append(Instruction(instr_args=call))

    def _argument(self, value: Any, declared: Any, beside: Sequence[Any]) -> int:
        import torch

        kind = declared.str()
        if isinstance(value, torch.fx.Node):
            return self._single(value)
        if isinstance(value, (list, tuple)) and any(isinstance(v, torch.fx.Node) for v in value):
            if "Tensor" in kind:
                indices = [None if v is None else self._single(v) for v in value]
                self._touch([index for index in indices if index is not None])
                return self.values.tensors(indices, optional="Tensor?" in kind)
            return self.values.ints([self._size(v) for v in value])
        if kind.startswith("Tensor") and isinstance(value, (bool, int, float)):
            return self._number(value, beside)
        return self.values.constant(value, kind)

    def _size(self, value: Any) -> int:
        import torch

        is_node = isinstance(value, torch.fx.Node)
        return self._single(value) if is_node else self.values.constant(value, "int")

    def _number(self, value: float, beside: Sequence[Any]) -> int:
        """A plain number where an operator takes a tensor: a constant of rank 0."""
        import torch

        dtype = torch.tensor(value).dtype
        for other in beside:
            other_dtype = getattr(other, "dtype", None)
            if other_dtype is None:
                continue
            if other_dtype.is_floating_point or not dtype.is_floating_point:
                dtype = other_dtype
        tensor = torch.tensor(value, dtype=dtype)
        record = describe(tensor)
        record.data_buffer_idx = self.data.constants.add(content(tensor))
        return self.values.add(record)

    def _operator(self, op: Any) -> int:
        overload = "" if op._overloadname == "default" else op._overloadname
        key = (op._overloadpacket._qualified_op_name, overload)
        return self.operators.setdefault(key, len(self.operators))


def _written(op: Any) -> str:
    """Name of the argument that an in-place operator writes and returns."""
    arguments = op._schema.arguments
    return str(next(a.name for a in arguments if a.alias_info and a.alias_info.is_write))


def _is_tuple(node: Node) -> bool:
    return isinstance(node.meta["val"], (tuple, list))


def _named(tensor: Tensor, name: str) -> Tensor:
    """An input by its name in ``forward``: the program format has no other place for it."""
    tensor.extra_tensor_info = ExtraTensorInfo(fully_qualified_name=name)
    return tensor


def _place(memory_id: int, offset: int) -> AllocationDetails:
    return AllocationDetails(
        memory_id=memory_id,
        memory_offset_low=offset & 0xFFFFFFFF,
        memory_offset_high=offset >> 32,
    )


def _tree(spec: Any) -> str:
    from torch.utils import _pytree

    return str(_pytree.treespec_dumps(spec))


def state_arena(outers: Mapping[str, Outer]) -> memory.Arena[str]:
    """One place for each program-owned buffer, the same in every method."""
    sizes: dict[str, int] = {}
    for outer in outers.values():
        for node, name in outer.state.items():
            sizes[name] = nbytes(describe(node.meta["val"]))
    return memory.side_by_side(sizes)
