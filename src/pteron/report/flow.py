"""What each instruction of a method reads and writes, and which instruction made what it reads.

The format does not say it; it follows from the conventions of what writes such files. A kernel
call's last argument is what it returns; an operator whose name ends in ``_`` also writes its first
one (and reads it, but for ``copy_``); a delegate's outputs come last. A tensor that nobody wrote is
a view of what was last written at its place in planned memory (ExecuTorch elides such
``view_copy`` calls).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from pteron.errors import UnsupportedError
from pteron.files.mutable_buffers import state_values
from pteron.files.operators import operator_names
from pteron.schema.program import (
    DelegateCall,
    EValue,
    ExecutionPlan,
    FreeCall,
    IntList,
    JumpFalseCall,
    KernelCall,
    MoveCall,
    OptionalTensorList,
    Tensor,
    TensorList,
)

NOBODY = -1
"""Producer of a value that no earlier instruction made: an input, a constant, a state."""

_BUDGET = 2_000_000
"""Uses of values in one method; real programs stay far below, a hostile one could ask for more."""

Place = tuple[int, int]


@dataclass
class Step:
    """One instruction.

    Attributes:
        kind: ``kernel``, ``delegate``, ``move``, ``jump``, ``free`` or ``unknown``.
        target: index of the operator or delegate, instruction jumped to; -1 for the others.
        reads: values it takes, each with the instruction that made it or :data:`NOBODY`.
        writes: values it makes or changes.
    """

    kind: str
    target: int = -1
    reads: list[tuple[int, int]] = field(default_factory=list)
    writes: list[int] = field(default_factory=list)


def flow(plan: ExecutionPlan) -> list[Step]:
    """Every instruction of a method, in order.

    Raises UnsupportedError for a method with an absurd number of arguments.
    """
    return _Walk(plan).steps()


class _Walk:
    def __init__(self, plan: ExecutionPlan) -> None:
        self._values: Sequence[EValue] = plan.values
        self._names = operator_names(plan)
        self._calls = [step.instr_args for chain in plan.chains for step in chain.instructions]
        self._spent = 0
        self._made: dict[int, int] = {}  # value -> instruction that wrote it last
        self._made_at: dict[Place, tuple[int, int]] = {}  # place -> value and instruction
        self._known = {*plan.inputs, *(index for index, _ in state_values(plan))}
        self._last_use: dict[int, int] = {}
        for step, call in enumerate(self._calls):
            for index in getattr(call, "args", ()):
                self._last_use.update(dict.fromkeys(self._expand(index), step))

    def steps(self) -> list[Step]:
        return [self._step(number, call) for number, call in enumerate(self._calls)]

    def _step(self, number: int, call: object) -> Step:
        match call:
            case KernelCall():
                reads, writes = self._kernel(call)
                step = Step("kernel", call.op_index)
            case DelegateCall():
                reads, writes = self._delegate(number, call)
                step = Step("delegate", call.delegate_index)
            case MoveCall():
                reads, writes = [call.move_from], [call.move_to]
                step = Step("move")
            case JumpFalseCall():
                reads, writes = [call.cond_value_index], []
                step = Step("jump", call.destination_instruction)
            case FreeCall():
                reads, writes = [call.value_index], []
                step = Step("free")
            case _:
                return Step("unknown")
        step.reads = [(index, self._producer(index)) for index in reads]
        step.writes = writes
        self._note(number, reads, writes)
        return step

    def _kernel(self, call: KernelCall) -> tuple[list[int], list[int]]:
        args = self._known_indices(call.args)
        result = list(dict.fromkeys(self._tensors(self._all(args[-1:]))))
        name = self._names[call.op_index] if 0 <= call.op_index < len(self._names) else ""
        name = name.partition(".")[0]
        in_place = name.endswith("_")
        writes = list(dict.fromkeys([*args[:1], *result])) if in_place else result
        unread = {*result, *args[-1:]} - ({*args[:1]} if in_place else set())
        unread |= {*args[:1]} if name == "aten::copy_" else set()
        return [i for i in dict.fromkeys(self._all(args)) if i not in unread], writes

    def _delegate(self, number: int, call: DelegateCall) -> tuple[list[int], list[int]]:
        """Outputs come last; where they begin is not said, but nobody knew them before."""
        args = self._known_indices(call.args)
        outputs: list[int] = []
        for index in reversed(args):
            if self._knows(index, number):
                break
            outputs.insert(0, index)
        inputs = args[: len(args) - len(outputs)]
        return list(dict.fromkeys(self._all(inputs))), list(dict.fromkeys(outputs))

    def _knows(self, index: int, step: int) -> bool:
        tensor = self._values[index].val
        if index in self._known or not isinstance(tensor, Tensor):
            return True
        if tensor.allocation_info is None:  # a constant, or bound to the caller's memory
            return bool(tensor.data_buffer_idx) or tensor.extra_tensor_info is not None
        before = self._made_at.get(_place(tensor))
        return before is not None and self._last_use.get(before[0], NOBODY) >= step

    def _producer(self, index: int) -> int:
        if index in self._made:
            return self._made[index]
        tensor = self._values[index].val
        if index in self._known or not isinstance(tensor, Tensor):
            return NOBODY
        if tensor.allocation_info is None:
            return NOBODY
        return self._made_at.get(_place(tensor), (NOBODY, NOBODY))[1]

    def _note(self, number: int, reads: Iterable[int], writes: Iterable[int]) -> None:
        self._known.update(reads)
        for index in writes:
            self._known.add(index)
            self._made[index] = number
            tensor = self._values[index].val
            if isinstance(tensor, Tensor) and tensor.allocation_info is not None:
                self._made_at[_place(tensor)] = index, number

    def _known_indices(self, args: Iterable[int]) -> list[int]:
        """Those that are indices of values; ``check`` reports the others."""
        return [index for index in args if 0 <= index < len(self._values)]

    def _all(self, args: Iterable[int]) -> list[int]:
        return self._known_indices(item for index in args for item in self._expand(index))

    def _tensors(self, indices: Iterable[int]) -> Iterator[int]:
        lists = (TensorList, OptionalTensorList)
        return (index for index in indices if not isinstance(self._values[index].val, lists))

    def _expand(self, index: int) -> Iterator[int]:
        """A value, and what it lists."""
        value = self._values[index].val if 0 <= index < len(self._values) else None
        items = value.items if isinstance(value, (TensorList, OptionalTensorList, IntList)) else ()
        self._spent += 1 + len(items)
        if self._spent > _BUDGET:
            raise UnsupportedError("the method's instructions have too many arguments to draw")
        yield index
        yield from items


def _place(tensor: Tensor) -> Place:
    assert tensor.allocation_info is not None
    return tensor.allocation_info.memory_id, tensor.allocation_info.memory_offset
