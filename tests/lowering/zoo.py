"""Small models, one for each way of writing, reading or sharing a buffer.

Each class is a case: ``forward`` is called with :func:`inputs_of` for several steps, and its
outputs and buffers after every step are what a lowered program must give.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn
from torch._higher_order_ops import map as map_
from torch._higher_order_ops import scan, while_loop
from torch.nn import functional as F  # noqa: N812

ZOO: dict[str, type[nn.Module]] = {}
STEPS = 4
QUICK = {
    "AddInPlace",
    "AttentionKVCache",
    "BatchNormTraining",
    "BufferIsViewOfAnother",
    "CondWrite",
    "EqualBuffers",
    "ExactSwap",
    "IndexPut",
    "Int64Counter",
    "LSTMTagger",
    "MixedDtypes",
    "NestedModules",
    "NonZeroFirstValue",
    "OverlappingSlices",
    "ShiftRegister",
    "TiedBuffers",
    "ViewOfView",
    "WriteInsideCond",
    "WriteInsideWhileLoop",
    "BoolMask",
    "DictOutput",
    "HalfBuffer",
    "MutatedParameter",
    "NoInputs",
    "RankSix",
    "Scatter",
    "SliceAssign",
}
"""Cases of every run; the others are marked slow, for their number."""


def case(cls: type[nn.Module]) -> type[nn.Module]:
    """Register a model as a case."""
    ZOO[cls.__name__] = cls
    return cls


def default_inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
    """One tensor ``[2, 3]``, for cases that do not say otherwise."""
    return (torch.randn(2, 3, generator=generator),)


def build(name: str) -> nn.Module:
    """The model of a case, with the same weights every time."""
    torch.manual_seed(7)
    return ZOO[name]()


def inputs_of(name: str, steps: int = STEPS) -> list[tuple[Any, ...]]:
    """The positional inputs of each step."""
    make: Callable[..., tuple[Any, ...]] = getattr(ZOO[name], "inputs", default_inputs)
    generator = torch.Generator().manual_seed(11)
    return [make(generator, step) for step in range(steps)]


class OneBuffer(nn.Module):
    """A module with a buffer ``b`` of zeros ``[2, 3]``."""

    def __init__(self, *shape: int, dtype: torch.dtype = torch.float32) -> None:
        super().__init__()
        self.register_buffer("b", torch.zeros(*(shape or (2, 3)), dtype=dtype))


# Whole-tensor writes


class TwoBuffers(OneBuffer):
    """A module with buffers ``a`` and ``b`` of zeros ``[2, 3]``."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("a", torch.zeros(2, 3))


@case
class EqualBuffers(TwoBuffers):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        before = self.b + 1
        self.a.add_(x)
        self.b.copy_(self.a)
        return self.a * 2, before


@case
class EqualBuffersThroughSlice(TwoBuffers):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        before = self.a - self.b * 3
        self.a.mul_(0.5).add_(x)
        self.b[:] = self.a
        return self.a * 2, before


@case
class OneValueInTwoBuffers(TwoBuffers):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        before = self.a + self.b * 2
        value = x + 1
        self.b.copy_(value)
        self.a.copy_(torch.dropout(value, 0.1, False))
        return value * 2, before


@case
class InputInTwoBuffers(TwoBuffers):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        before = self.a + self.b * 2
        self.a.copy_(x)
        self.b.copy_(x)
        return x * 2, before


@case
class AddInPlace(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b.add_(x)
        return self.b * 2


@case
class Copy(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        y = self.b + x
        self.b.copy_(x)
        return y


@case
class CopyComputed(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b.copy_(self.b * 0.5 + x)
        return self.b.sum()


@case
class Reassign(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b = self.b + x
        return self.b.relu()


@case
class OutArgument(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        torch.add(self.b, x, out=self.b)
        return self.b + 1


@case
class ArithmeticInPlace(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b.sub_(x)
        self.b.mul_(0.5)
        self.b.div_(3.0)
        self.b.add_(x, alpha=2)
        return self.b.clone()


@case
class UnaryInPlace(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b.add_(x).tanh_().sigmoid_()
        self.b.clamp_(0.1, 0.7)
        return self.b + x


@case
class Lerp(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b.lerp_(x, 0.25)
        return x - self.b


@case
class AddcmulInPlace(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b.addcmul_(x, x, value=0.5)
        return self.b - x


@case
class AddmmInPlace(OneBuffer):
    def __init__(self) -> None:
        super().__init__(2, 2)
        self.register_buffer("w", torch.randn(3, 2))

    def forward(self, x: Tensor) -> Tensor:
        self.b.addmm_(x, self.w)
        return self.b @ self.b


@case
class RunningMaximum(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b.copy_(torch.maximum(self.b, x))
        return self.b - x


@case
class WhereWrite(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b.copy_(torch.where(x > 0, x, self.b))
        return self.b.abs()


@case
class ZeroThenAdd(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        y = self.b * 3
        self.b.zero_()
        self.b.add_(x)
        return y + self.b


@case
class FillFromInput(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        y = self.b + x
        self.b.fill_(1.5)
        self.b.mul_(x)
        return y


@case
class SeveralWrites(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b.add_(x)
        first = self.b.clone()
        self.b.mul_(2)
        self.b.copy_(self.b - first * 0.5)
        return first + self.b


@case
class WriteFarAway(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        held = self.b
        y = x
        for _ in range(4):
            y = torch.tanh(y + held)
        held.copy_(y * 0.5)
        return y


@case
class WriteOnly(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b.copy_(x * 2)
        return x + 1


@case
class WriteInputItself(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        y = self.b * 2 + 1
        self.b.copy_(x)
        return y


# Partial writes


@case
class SliceAssign(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b[:, 1:] = x[:, :2] + self.b[:, :2]
        return self.b * 1.5


@case
class RowAssign(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b[1] = self.b[0] + x[0]
        self.b[0] = x[1]
        return self.b + 0


@case
class StepSlice(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b[:, ::2].add_(x[:, ::2])
        return self.b.sum(dim=1)


@case
class OverlappingSlices(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b[:, :2] += x[:, :2]
        self.b[:, 1:] *= 0.5
        return self.b.exp()


@case
class Select(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b.select(1, 2).copy_(x[:, 0])
        self.b.select(0, 0).fill_(0.25)
        return self.b + x


@case
class Narrow(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b.narrow(1, 0, 2).add_(x.narrow(1, 1, 2))
        return self.b * x


@case
class ViewOfView(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b.view(6)[1:5].view(2, 2).add_(x[:, :2])
        return self.b.mean()


@case
class TransposedView(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b.t().add_(x.t())
        self.b.t()[0].mul_(0.5)
        return self.b + 1


@case
class PermutedView(OneBuffer):
    def __init__(self) -> None:
        super().__init__(2, 3, 4)

    @staticmethod
    def inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
        return (torch.randn(4, 2, generator=generator),)

    def forward(self, x: Tensor) -> Tensor:
        self.b.permute(2, 0, 1)[:, :, 1].copy_(x)
        return self.b.sum(dim=0)


@case
class SplitViews(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        left, right = self.b.split([1, 2], dim=1)
        left.add_(x[:, :1])
        right.copy_(left.expand(2, 2) + right)
        return self.b - x


@case
class UnbindViews(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        first, second = self.b.unbind(0)
        first.add_(x[0])
        second.mul_(0.5).add_(first)
        return self.b * 2


@case
class UnsqueezedView(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b.unsqueeze(1).add_(x.unsqueeze(1))
        return self.b.sum(1)


@case
class DiagonalView(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b.diagonal().add_(x[:, 0])
        return self.b + x


@case
class AsStridedView(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b.as_strided((2, 2), (3, 1), 1).add_(x[:, :2])
        return self.b.neg()


@case
class IndexPut(OneBuffer):
    @staticmethod
    def inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
        return torch.randn(2, generator=generator), torch.tensor([step % 3, (step + 1) % 3])

    def forward(self, x: Tensor, where: Tensor) -> Tensor:
        self.b.index_put_((torch.tensor([0, 1]), where), x)
        return self.b.sum(1)


@case
class IndexPutAccumulate(OneBuffer):
    @staticmethod
    def inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
        return torch.randn(3, 3, generator=generator), torch.tensor([1, 0, 1])

    def forward(self, x: Tensor, where: Tensor) -> Tensor:
        self.b.index_put_((where,), x, accumulate=True)
        return self.b * 0.5


@case
class AdvancedIndexAssign(OneBuffer):
    @staticmethod
    def inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
        return torch.randn(1, 3, generator=generator), torch.tensor([step % 2])

    def forward(self, x: Tensor, row: Tensor) -> Tensor:
        self.b[row] = x
        return self.b.sum(0)


@case
class AssignedView(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("a", torch.zeros(3, 3))
        self.register_buffer("b", torch.eye(3))

    @staticmethod
    def inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
        return (torch.randn(3, 3, generator=generator),)

    def forward(self, x: Tensor) -> Tensor:
        y = self.a @ x
        self.a, self.b = self.b.t(), self.a + x
        return y


@case
class IndexCopy(OneBuffer):
    @staticmethod
    def inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
        return torch.randn(2, 1, generator=generator), torch.tensor([step % 3])

    def forward(self, x: Tensor, column: Tensor) -> Tensor:
        self.b.index_copy_(1, column, x)
        return self.b.sum(1)


@case
class IndexAdd(OneBuffer):
    @staticmethod
    def inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
        return torch.randn(2, 2, generator=generator), torch.tensor([2, step % 2])

    def forward(self, x: Tensor, columns: Tensor) -> Tensor:
        self.b.index_add_(1, columns, x)
        return self.b + 1


@case
class IndexFill(OneBuffer):
    @staticmethod
    def inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
        return torch.randn(2, 3, generator=generator), torch.tensor([step % 3])

    def forward(self, x: Tensor, columns: Tensor) -> Tensor:
        self.b.add_(x)
        self.b.index_fill_(1, columns, 0.5)
        return self.b - 1


@case
class Scatter(OneBuffer):
    @staticmethod
    def inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
        return torch.randn(2, 2, generator=generator), torch.tensor([[0, 2], [step % 3, 1]])

    def forward(self, x: Tensor, where: Tensor) -> Tensor:
        self.b.scatter_(1, where, x)
        return self.b * 2


@case
class ScatterAdd(OneBuffer):
    @staticmethod
    def inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
        return torch.randn(2, 2, generator=generator), torch.tensor([[0, 2], [step % 3, 1]])

    def forward(self, x: Tensor, where: Tensor) -> Tensor:
        self.b.scatter_add_(1, where, x)
        return self.b * 2


@case
class MaskedFill(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b.add_(x)
        self.b.masked_fill_(x > 0.5, 0.5)
        return self.b + x


@case
class BooleanMaskAssign(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b[x > 0] = 1.0
        return self.b - x


# Reads


@case
class OldValueReturned(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        old = self.b.clone()
        self.b.add_(x)
        return old


@case
class NewValueReturned(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b.add_(x)
        return self.b


@case
class ReadBetweenWrites(OneBuffer):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.b.add_(x)
        middle = self.b.exp()
        self.b.mul_(0.5)
        return middle, self.b.sum()


@case
class ReadBySlices(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        y = self.b[:, :1] @ x[:1, :] + self.b[:, 2:]
        self.b.copy_(y + x)
        return y


@case
class GatherRead(OneBuffer):
    @staticmethod
    def inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
        return torch.randn(2, 3, generator=generator), torch.tensor([[0], [step % 3]])

    def forward(self, x: Tensor, where: Tensor) -> Tensor:
        self.b.add_(x)
        return self.b.gather(1, where)


@case
class NeverWritten(OneBuffer):
    def __init__(self) -> None:
        super().__init__()
        self.b.copy_(torch.randn(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        return x + self.b


# Several buffers


@case
class SwapBuffers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("a", torch.zeros(2, 3))
        self.register_buffer("b", torch.zeros(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        y = self.a * 2 + self.b
        old = self.a.clone()
        self.a.copy_(self.b + x)
        self.b.copy_(old)
        return y


@case
class ExactSwap(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("a", torch.ones(2, 3))
        self.register_buffer("b", torch.zeros(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        y = self.a * x + self.b
        self.a, self.b = self.b, self.a
        return y


@case
class ShiftRegister(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        for name in ("first", "second", "third"):
            self.register_buffer(name, torch.zeros(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        y = self.third + 0.1 * x
        self.third.copy_(self.second)
        self.second.copy_(self.first)
        self.first.copy_(x)
        return y


class Accumulator(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        self.total.add_(x)
        return self.total * 0.5


@case
class NestedModules(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.ModuleList([Accumulator(), Accumulator()])

    def forward(self, x: Tensor) -> Tensor:
        for layer in self.layers:
            x = layer(x)
        return x


@case
class SharedModule(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.inner = Accumulator()

    def forward(self, x: Tensor) -> Tensor:
        return self.inner(x) + self.inner(-0.5 * x)


@case
class NonPersistent(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("b", torch.zeros(2, 3), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        self.b.add_(x)
        return self.b * 3


@case
class SimilarNames(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layer = Accumulator()
        self.register_buffer("layer_total", torch.zeros(2, 3))

    def forward(self, x: Tensor) -> Tensor:
        self.layer_total.sub_(x)
        return self.layer(x) + self.layer_total


# Values and dtypes that Core ML state cannot hold


@case
class NonZeroFirstValue(OneBuffer):
    def __init__(self) -> None:
        super().__init__()
        self.b.fill_(0.75)

    def forward(self, x: Tensor) -> Tensor:
        self.b.mul_(x.abs() + 0.5)
        return self.b + x


@case
class Int64Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.zeros(1, dtype=torch.int64))

    def forward(self, x: Tensor) -> Tensor:
        self.count.add_(1)
        return x * self.count


@case
class Int32Counter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("count", torch.full((1,), 3, dtype=torch.int32))

    def forward(self, x: Tensor) -> Tensor:
        self.count.add_(2)
        return x + self.count


@case
class BoolMask(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("seen", torch.zeros(2, 3, dtype=torch.bool))

    def forward(self, x: Tensor) -> Tensor:
        self.seen.logical_or_(x > 0.5)
        return torch.where(self.seen, x, torch.zeros_like(x))


@case
class ScalarBuffer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(()))

    def forward(self, x: Tensor) -> Tensor:
        self.total.add_(x.sum())
        return x * self.total


@case
class RankSix(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("b", torch.zeros(1, 1, 1, 1, 2, 3))

    def forward(self, x: Tensor) -> Tensor:
        self.b.add_(x)
        return self.b.view(2, 3) * 2


@case
class HalfBuffer(OneBuffer):
    def __init__(self) -> None:
        super().__init__(dtype=torch.float16)

    def forward(self, x: Tensor) -> Tensor:
        self.b.add_(x.half())
        return self.b.float() * 2


@case
class MixedDtypes(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("position", torch.zeros(1, dtype=torch.int64))
        self.register_buffer("cache", torch.zeros(4, 3))

    @staticmethod
    def inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
        return (torch.randn(1, 3, generator=generator),)

    def forward(self, x: Tensor) -> Tensor:
        self.cache.index_copy_(0, self.position, x)
        self.position.add_(1)
        return self.cache.sum(0)


# Not registered as buffers


@case
class MutatedParameter(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(2, 3), requires_grad=False)

    def forward(self, x: Tensor) -> Tensor:
        y = self.weight * x
        self.weight.add_(x)
        return y


# Aliases


@case
class TiedBuffers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        shared = torch.zeros(2, 3)
        self.register_buffer("a", shared)
        self.register_buffer("b", shared)

    def forward(self, x: Tensor) -> Tensor:
        self.a.add_(x)
        return self.b * 2


@case
class TiedThroughModules(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.one, self.two = Accumulator(), Accumulator()
        self.two.total = self.one.total

    def forward(self, x: Tensor) -> Tensor:
        return self.one(x) + self.two(x)


@case
class BufferIsViewOfAnother(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        whole = torch.zeros(2, 3)
        self.register_buffer("whole", whole)
        self.register_buffer("row", whole[1])

    def forward(self, x: Tensor) -> Tensor:
        self.row.add_(x[0])
        y = self.whole * 2
        self.whole.add_(x)
        return y + self.row


# Modes and control flow


@case
class NoGradInside(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        with torch.no_grad():
            self.b.add_(x)
        return self.b * 2


@case
class EnableGradInside(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        with torch.enable_grad():
            y = x * 2
        self.b.add_(y)
        return self.b + y


@case
class DetachedWrite(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        self.b.detach().add_(x)
        return self.b * 2


@case
class BatchNormTraining(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.norm = nn.BatchNorm1d(3)

    @staticmethod
    def inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
        return (torch.randn(4, 3, generator=generator) * 2 + step,)

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(x)


@case
class CondWrite(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        def grow(b: Tensor, x: Tensor) -> Tensor:
            return b + x

        def shrink(b: Tensor, x: Tensor) -> Tensor:
            return b * 0.5

        self.b.copy_(torch.cond(x.sum() > 0, grow, shrink, (self.b, x)))
        return self.b + 1


@case
class WriteInsideCond(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        def grow(x: Tensor) -> Tensor:
            self.b.add_(x)
            return self.b * 2

        def leave(x: Tensor) -> Tensor:
            return x - 1

        return torch.cond(x.sum() > 0, grow, leave, (x,)) + self.b


@case
class WriteInsideBothBranches(TwoBuffers):
    def forward(self, x: Tensor) -> Tensor:
        def one(x: Tensor) -> Tensor:
            self.a.copy_(x)
            self.b[0] = x[1]
            return self.a + self.b

        def other(x: Tensor) -> Tensor:
            self.b.mul_(0.5)
            return self.b + 0 * self.a

        return torch.cond(x.sum() > 0, one, other, (x,)) * 2


@case
class WriteInsideNestedCond(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        def grow(x: Tensor) -> Tensor:
            def add(x: Tensor) -> Tensor:
                self.b.add_(x)
                return x * 2

            return torch.cond(x.max() > 1, add, torch.neg, (x,))

        return torch.cond(x.sum() > 0, grow, torch.abs, (x,)) + self.b


@case
class WriteInsideWhileLoop(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        def step(i: Tensor, y: Tensor) -> tuple[Tensor, Tensor]:
            self.b.mul_(0.5).add_(y)
            return i + 1, y * 2

        start = torch.zeros((), dtype=torch.int64)
        _, y = while_loop(lambda i, y: i < 3, step, (start, x))
        return y + self.b


@case
class ScanFromBuffer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("total", torch.zeros(3))

    def forward(self, x: Tensor) -> Tensor:
        total, rows = scan(lambda c, row: (c * 0.5 + row, c - row), self.total, x)
        self.total.copy_(total)
        return rows


@case
class MapOverBuffer(OneBuffer):
    def forward(self, x: Tensor) -> Tensor:
        y = map_(lambda row, x: row * x[0] + 1, self.b, x)
        self.b.add_(x)
        return y


torch.library.define("pteron_zoo::accumulate", "(Tensor(a!) total, Tensor x) -> Tensor")


@torch.library.impl("pteron_zoo::accumulate", "CompositeExplicitAutograd")
def _accumulate(total: Tensor, x: Tensor) -> Tensor:
    total.add_(x)
    return total * 2


@torch.library.register_fake("pteron_zoo::accumulate")
def _(total: Tensor, x: Tensor) -> Tensor:
    return torch.empty_like(total)


@case
class CustomMutatingOp(OneBuffer):
    """Its operator has no kernel anywhere but here: lowers, and runs where ATen is asked."""

    def forward(self, x: Tensor) -> Tensor:
        return torch.ops.pteron_zoo.accumulate(self.b, x) + 1


# Structures of inputs and outputs


@case
class DictOutput(OneBuffer):
    def forward(self, x: Tensor) -> dict[str, Tensor]:
        self.b.add_(x)
        return {"new": self.b * 1, "input": x}


@case
class SameOutputTwice(OneBuffer):
    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        self.b.add_(x)
        y = self.b * 2
        return y, y


@case
class PlainNumberOutput(OneBuffer):
    def forward(self, x: Tensor) -> tuple[Tensor, int]:
        self.b.add_(x)
        return self.b * 2, 5


@case
class NoInputs(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("b", torch.zeros(2, 3))

    @staticmethod
    def inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
        return ()

    def forward(self) -> Tensor:
        self.b.add_(1)
        return self.b * 2


@case
class ChannelsLast(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.conv = nn.Conv2d(2, 3, 3, padding=1).to(memory_format=torch.channels_last)
        self.register_buffer("b", torch.zeros(1, 3, 4, 5))

    @staticmethod
    def inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
        return (torch.randn(1, 2, 4, 5, generator=generator),)

    def forward(self, x: Tensor) -> Tensor:
        y = self.conv(x.to(memory_format=torch.channels_last))
        self.b.add_(y.relu())
        return self.b.permute(0, 2, 3, 1).relu() + y.permute(0, 2, 3, 1)


# Small versions of real models


@case
class RingBuffer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("ring", torch.zeros(1, 8))
        self.conv = nn.Conv1d(1, 2, 3)

    @staticmethod
    def inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
        return (torch.randn(1, 2, generator=generator),)

    def forward(self, x: Tensor) -> Tensor:
        self.ring.copy_(torch.cat([self.ring[:, 2:], x], dim=1))
        return self.conv(self.ring.unsqueeze(1))


@case
class RolledBuffer(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("ring", torch.zeros(4, 3))

    @staticmethod
    def inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
        return (torch.randn(3, generator=generator),)

    def forward(self, x: Tensor) -> Tensor:
        self.ring.copy_(torch.roll(self.ring, -1, 0))
        self.ring[-1] = x
        return self.ring.mean(0)


@case
class LSTMCellState(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(3, 4)
        self.register_buffer("h", torch.zeros(2, 4))
        self.register_buffer("c", torch.zeros(2, 4))

    def forward(self, x: Tensor) -> Tensor:
        h, c = self.cell(x, (self.h, self.c))
        self.h.copy_(h)
        self.c.copy_(c)
        return h


@case
class GRUCellState(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(3, 4)
        self.register_buffer("h", torch.zeros(2, 4))

    def forward(self, x: Tensor) -> Tensor:
        self.h.copy_(self.cell(x, self.h))
        return self.h * 1


@case
class LSTMTagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.embed = nn.Embedding(10, 6)
        self.lstm = nn.LSTM(6, 5, batch_first=True)
        self.head = nn.Linear(5, 4)
        self.register_buffer("h", torch.zeros(1, 1, 5))
        self.register_buffer("c", torch.zeros(1, 1, 5))

    @staticmethod
    def inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
        return (torch.randint(0, 10, (1, 3), generator=generator),)

    def forward(self, tokens: Tensor) -> Tensor:
        y, (h, c) = self.lstm(self.embed(tokens), (self.h, self.c))
        self.h.copy_(h)
        self.c.copy_(c)
        return self.head(y)


@case
class GRUTagger(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(3, 5, batch_first=True)
        self.register_buffer("h", torch.zeros(1, 1, 5))

    @staticmethod
    def inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
        return (torch.randn(1, 4, 3, generator=generator),)

    def forward(self, x: Tensor) -> Tensor:
        y, h = self.gru(x, self.h)
        self.h.copy_(h)
        return y


@case
class AttentionKVCache(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.qkv = nn.Linear(8, 24)
        self.out = nn.Linear(8, 8)
        self.register_buffer("k", torch.zeros(1, 2, 6, 4))
        self.register_buffer("v", torch.zeros(1, 2, 6, 4))

    @staticmethod
    def inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
        return torch.randn(1, 1, 8, generator=generator), torch.tensor([step])

    def forward(self, x: Tensor, position: Tensor) -> Tensor:
        q, k, v = (t.view(1, 1, 2, 4).transpose(1, 2) for t in self.qkv(x).split(8, dim=-1))
        self.k.index_copy_(2, position, k)
        self.v.index_copy_(2, position, v)
        mask = torch.arange(6) <= position
        y = F.scaled_dot_product_attention(q, self.k, self.v, attn_mask=mask.view(1, 1, 1, 6))
        return self.out(y.transpose(1, 2).reshape(1, 1, 8))


@case
class MambaRecurrence(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.decay = nn.Parameter(torch.rand(4, 3))
        self.to_b = nn.Linear(4, 3)
        self.to_c = nn.Linear(4, 3)
        self.register_buffer("state", torch.zeros(1, 4, 3))
        self.register_buffer("window", torch.zeros(1, 4, 2))
        self.mix = nn.Parameter(torch.randn(4, 3))

    @staticmethod
    def inputs(generator: torch.Generator, step: int) -> tuple[Any, ...]:
        return (torch.randn(1, 4, generator=generator),)

    def forward(self, x: Tensor) -> Tensor:
        window = torch.cat([self.window, x.unsqueeze(-1)], dim=-1)
        self.window.copy_(window[:, :, 1:])
        x = F.silu((window * self.mix).sum(-1))
        state = self.state * torch.exp(-self.decay) + x.unsqueeze(-1) * self.to_b(x).unsqueeze(1)
        self.state.copy_(state)
        return (state * self.to_c(x).unsqueeze(1)).sum(-1)
