"""An ExecutionPlan in the making: values, instructions, and how long each value is needed."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from pteron.lowering import memory
from pteron.lowering.emit.blobs import Blobs
from pteron.lowering.emit.frames import debug_frames
from pteron.lowering.emit.tensors import content, describe, nbytes
from pteron.lowering.emit.values import Values
from pteron.schema.program import (
    AllocationDetails,
    BackendDelegate,
    BackendDelegateDataReference,
    CompileSpec,
    DataLocation,
    DelegateCall,
    ExtraTensorInfo,
    FrameList,
    Instruction,
    InstructionArguments,
    JumpFalseCall,
    KernelCall,
    MoveCall,
    Operator,
    Tensor,
)

if TYPE_CHECKING:
    from torch.fx import Node

SCRATCH, STATE = 1, 2
"""Memory ids: values of one call; buffers that outlive calls, at the same place in every method."""


class ProgramData:
    """What the methods of one file share: constants, first values, payloads, places of state.

    ``debug_frames`` says whether each instruction tells where in the model it comes from.
    """

    def __init__(self, state: memory.Arena[str], debug_frames: bool = False) -> None:
        self.constants = Blobs()
        self.mutable_data = Blobs()
        self.payloads = Blobs()
        self.state = state
        self.debug_frames = debug_frames


class Builder:
    """Appends values and instructions; every instruction's operands stay alive until it."""

    def __init__(self, data: ProgramData) -> None:
        self.data = data
        self.stacktrace: list[FrameList] | None = [] if data.debug_frames else None
        self._node: Node | None = None
        self.values = Values()
        self.instructions: list[Instruction] = []
        self.delegates: list[BackendDelegate] = []
        self._operators: dict[tuple[str, str], int] = {}
        self._scratch: dict[int, memory.Lifetime] = {}

    @property
    def operators(self) -> list[Operator]:
        """The operators that kernel calls use, in the order of their indices."""
        return [Operator(name=name, overload=overload) for name, overload in self._operators]

    # Values

    def constant(self, tensor: Any) -> int:
        """A tensor that never changes."""
        record = describe(tensor)
        record.data_buffer_idx = self.data.constants.add(content(tensor))
        return self.values.add(record)

    def state(self, name: str, tensor: Any) -> int:
        """A buffer that the program owns; its first value is stored unless it is zero.

        It is copied: the model may run, and so write its buffer, before the file is saved.
        """
        record = describe(tensor)
        record.allocation_info = _place(STATE, self.data.state.offsets[name])
        record.extra_tensor_info = ExtraTensorInfo(fully_qualified_name=name)
        first = content(tensor)
        if np.frombuffer(first, np.uint8).any():
            record.data_buffer_idx = self.data.mutable_data.add(bytes(first))
        return self.values.add(record)

    def scratch(self, like: Any, name: str | None = None) -> int:
        """A value of this call, shaped like a (fake) tensor."""
        record = describe(like)
        if name is not None:
            record.extra_tensor_info = ExtraTensorInfo(fully_qualified_name=name)
        return self._scratch_value(record)

    def _scratch_value(self, record: Tensor) -> int:
        index = self.values.add(record)
        now = len(self.instructions)
        self._scratch[index] = memory.Lifetime(nbytes(record), now, now)
        return index

    def like(self, index: int) -> int:
        """Another value of this call, of the same type as one that is there."""
        record = self.values.table[index].val
        if isinstance(record, Tensor):
            record = replace(
                record, data_buffer_idx=0, allocation_info=None, extra_tensor_info=None
            )
            return self._scratch_value(record)
        return self.values.add(copy(record))

    def is_tensor(self, index: int) -> bool:
        """Whether a value is a tensor, not a number."""
        return isinstance(self.values.table[index].val, Tensor)

    def tensor(self, index: int) -> Tensor:
        """The record of a value that is a tensor."""
        record = self.values.table[index].val
        assert isinstance(record, Tensor)
        return record

    def keep(self, indices: Iterable[int]) -> None:
        """Values that are needed here."""
        now = len(self.instructions)
        for index in indices:
            if index in self._scratch:
                life = self._scratch[index]
                self._scratch[index] = memory.Lifetime(life.size, life.first, now)

    def allocate(self) -> int:
        """Give every scratch value its place; returns the bytes of all."""
        arena = memory.plan(self._scratch)
        for index, offset in arena.offsets.items():
            self.tensor(index).allocation_info = _place(SCRATCH, offset)
        return arena.size

    # Instructions

    def at(self, node: Node) -> None:
        """What is added from here on is for this operation."""
        self._node = node

    def _add(self, call: InstructionArguments) -> None:
        self.instructions.append(Instruction(instr_args=call))
        if self.stacktrace is not None:
            self.stacktrace.append(debug_frames(self._node))

    def kernel(self, name: str, overload: str, args: list[int]) -> None:
        """Call an operator; ``args`` are its arguments, then its results once more."""
        self.keep(args)
        op = self._operators.setdefault((name, overload), len(self._operators))
        self._add(KernelCall(op_index=op, args=args))

    def delegate(
        self, backend_id: str, payload: bytes, specs: Mapping[str, bytes], args: list[int]
    ) -> None:
        """Call a delegate; ``args`` are its inputs, then its outputs."""
        self.keep(args)
        self.delegates.append(
            BackendDelegate(
                id=backend_id,
                processed=BackendDelegateDataReference(
                    location=DataLocation.INLINE, index=self.data.payloads.add(payload) - 1
                ),
                compile_specs=[CompileSpec(key=key, value=value) for key, value in specs.items()],
            )
        )
        self._add(DelegateCall(delegate_index=len(self.delegates) - 1, args=args))

    def jump_unless(self, condition: int) -> JumpFalseCall:
        """Jump if a value is false; :meth:`land` says where to."""
        self.keep([condition])
        jump = JumpFalseCall(cond_value_index=condition)
        self._add(jump)
        return jump

    def land(self, jump: JumpFalseCall) -> None:
        """The next instruction is where ``jump`` goes."""
        jump.destination_instruction = len(self.instructions)

    def move(self, source: int, target: int) -> None:
        """Give a value that is a number another value's."""
        self._add(MoveCall(move_from=source, move_to=target))

    @contextmanager
    def loop(self) -> Iterator[Callable[[int], None]]:
        """What is written inside is repeated until the value given to the yielded function, at
        the start of a round, is false."""
        start = len(self.instructions)
        leaving: list[JumpFalseCall] = []
        yield lambda condition: leaving.append(self.jump_unless(condition))
        back = self.jump_unless(self.values.constant(False, "bool"))
        back.destination_instruction = start
        for jump in leaving:
            self.land(jump)
        self._keep_for_the_next_round(start)

    def _keep_for_the_next_round(self, start: int) -> None:
        """Values from before a loop that are used in it are used in its last round too."""
        end = len(self.instructions) - 1
        for index, life in self._scratch.items():
            if life.first < start <= life.last:
                self._scratch[index] = memory.Lifetime(life.size, life.first, end)


def _place(memory_id: int, offset: int) -> AllocationDetails:
    return AllocationDetails(
        memory_id=memory_id,
        memory_offset_low=offset & 0xFFFFFFFF,
        memory_offset_high=offset >> 32,
    )
