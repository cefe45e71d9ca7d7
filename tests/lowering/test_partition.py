"""Which operations become one delegate, and what is moved so that a buffer can be a state."""

from __future__ import annotations

from collections.abc import Collection

import pytest
import torch
from torch import Tensor, nn
from torch.fx import Node

import pteron
from pteron.errors import LoweringError
from pteron.lowering import CoreML, decompose, lower
from pteron.lowering.capture import Exported, export
from pteron.lowering.emit.kernels import has_portable_kernel
from pteron.lowering.partition import Partition, partition
from pteron.lowering.state import settle, survey, touching

X = (torch.randn(2, 3),)


class Buffers(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("a", torch.zeros(2, 3))
        self.register_buffer("b", torch.zeros(2, 3))


class ReadLate(Buffers):
    """The write could be early; the read has to wait for what no delegate takes."""

    def forward(self, x: Tensor) -> Tensor:
        late = self.a * torch.sigmoid(x)
        self.a.add_(x)
        return late


class BothLate(Buffers):
    """Each buffer is read early and written late, in turns."""

    def forward(self, x: Tensor) -> Tensor:
        y = torch.sigmoid(self.a * x)
        z = torch.sigmoid(self.b + y)
        self.b.mul_(x)
        return z


class Between(Buffers):
    """The new value goes through what no delegate takes."""

    def forward(self, x: Tensor) -> Tensor:
        self.a.copy_(torch.sigmoid(self.a + x) * 2)
        return x + 1


class AfterEachOther(Buffers):
    """Each buffer's write needs, through another operation, the other one's read."""

    def forward(self, x: Tensor) -> Tensor:
        one, two = torch.sigmoid(self.a), torch.sigmoid(self.b)
        self.a.mul_(0.5).add_(two)
        self.b.mul_(0.25).add_(one)
        return x + one


def divide(
    model: nn.Module, outside: Collection[str] = ("sigmoid",)
) -> tuple[Partition, dict[str, str]]:
    """The regions where some operators are nobody's, and the owner of each buffer."""
    exported = export(model, X, {}, None)
    program = decompose.functional(exported.program, has_portable_kernel)
    plan = survey("forward", program, Exported(exported.program))
    sets = touching(plan, program)

    def taken(node: Node) -> bool:
        return not any(name in str(node.target) for name in outside)

    division = partition(program, taken, sets)
    _no_cycle(division)
    settle(plan, "forward", sets, division)
    return division, {n: r.owner.value if r.owner else "" for n, r in plan.buffers.items()}


def _no_cycle(division: Partition) -> None:
    """No region needs, through others, what it gives."""
    for region in division.regions:
        seen: set[Node] = set()
        work = [user for node in region for user in node.users if user not in region]
        while work:
            node = work.pop()
            assert node not in region, f"{node} is in a region that it needs"
            if node not in seen:
                seen.add(node)
                work += node.users


def test_an_early_write_moves_to_where_the_read_is():
    division, owners = divide(ReadLate())
    assert owners["a"] == "delegate"
    assert len(division.regions) == 1


def test_buffers_of_different_regions_each_stay_whole():
    division, owners = divide(BothLate())
    assert owners["b"] == "delegate"
    assert len(division.regions) == 2


def test_what_lies_between_keeps_a_buffer_with_the_program():
    _, owners = divide(Between())
    assert owners["a"] == "program"


def test_buffers_that_wait_for_each_other_are_not_both_states():
    _, owners = divide(AfterEachOther())
    assert set(owners.values()) == {"program"}


def test_a_moved_write_gives_the_right_numbers():
    model = ReadLate()
    file = lower(model, X, backend=CoreML(compute_precision="float32"), exclude=["aten.sigmoid.*"])
    record = file.lowering_report.state.buffers["a"]
    assert record.owner.value == "delegate" and record.partitions == ["forward: delegate 0"]
    module = pteron.load(file, cache=None)
    reference = ReadLate()
    for step in range(3):
        x = torch.randn(2, 3, generator=torch.Generator().manual_seed(step))
        (got,) = module.forward(x.numpy())
        torch.testing.assert_close(torch.as_tensor(got), reference(x), rtol=4e-3, atol=4e-3)


def test_whole_graph_lists_every_operation_in_the_way():
    class Blocked(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            y = torch.sigmoid(x)
            z = torch.cond(y.sum() > 1, lambda y: y * 2, lambda y: y - 1, (y,))
            return torch.tanh(z)

    with pytest.raises(LoweringError) as caught:
        lower(Blocked(), X, whole_graph=True, exclude=["aten.sigmoid.*", "aten.tanh.*"])
    lines = str(caught.value).splitlines()[1:]
    assert [line.split()[0] for line in lines] == [
        "aten.sigmoid.default",
        "cond",
        "aten.tanh.default",
    ]
    assert "y = torch.sigmoid(x)" in lines[0] and "torch.tanh(z)" in lines[2]
    assert all("test_partition.py" in line for line in lines)
