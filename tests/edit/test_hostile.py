"""Damaged files: an edit gives a file or one of pteron's errors, and never takes long."""

from __future__ import annotations

import random
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest

from pteron import edit
from pteron.errors import FormatError, PteronError
from pteron.files import PTEFile
from pteron.schema.program import AllocationDetails, EValue, Int, Program, Tensor
from tests.edit.proof import program
from tests.files.made import Made
from tests.files.programs import add_plan, float_tensor

ONES = np.ones(3, np.float32)


def payload_of(file: PTEFile) -> bytes:
    """A copy of the first payload, which its reader takes; anything where there is none."""
    return next((bytes(delegate.payload) for delegate in file.delegates), b"payload")


def method_of(file: PTEFile) -> str:
    return next(iter(file.methods), "none")


EDITS: dict[str, Callable[[PTEFile, PTEFile], object]] = {
    "rename": lambda f, _: edit.rename(f, {method_of(f): "zz"}),
    "drop": lambda f, _: edit.drop(f, [method_of(f)]),
    "merge": lambda f, other: edit.merge(f, other),
    "merge shared": lambda f, other: edit.merge(other, f, share_memory=True, share_external=True),
    "merge itself": lambda f, _: edit.merge(f, edit.rename(f, {method_of(f): "zz"})),
    "add_constant_methods": lambda f, _: edit.add_constant_methods(f, {"zz": ONES}),
    "replace_constant": lambda f, _: edit.replace_constant(f, 1, ONES),
    "replace_value": lambda f, _: edit.replace_constant(f, (method_of(f), 2), ONES),
    "replace_payload": lambda f, _: edit.replace_payload(f, method_of(f), 0, payload_of(f)),
    "externalise": lambda f, _: edit.externalise(f, named_data=True),
    "inline": lambda f, _: edit.inline(*edit.externalise(f, named_data=True)),
    "realign": lambda f, _: edit.realign(f, segments=64, tensors=32, named_data=16),
    "strip_stack_traces": lambda f, _: edit.strip_stack_traces(f),
    "strip_payload_debug_info": lambda f, _: edit.strip_payload_debug_info(f),
    "strip_unused": lambda f, _: edit.strip_unused(f),
    "bundle": lambda f, _: edit.bundle(f, {method_of(f): [edit.Case({"0": ONES})]}),
}
NUMBERS = (0, 1, 2, 1000, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF)


def damaged(data: bytes, dice: random.Random) -> bytes:
    """A few bytes, or one number, of the flatbuffer changed."""
    changed = bytearray(data)
    end = int.from_bytes(data[16:24], "little") if data[8:12] == b"eh00" else len(data)
    for _ in range(dice.choice([1, 1, 2, 4])):
        at = dice.randrange(8, end)
        if dice.random() < 0.5:
            changed[at] ^= 1 << dice.randrange(8)
        else:
            at &= ~3
            changed[at : at + 4] = dice.choice(NUMBERS).to_bytes(4, "little")
    return bytes(changed)


@pytest.mark.parametrize("name", EDITS)
def test_damaged_programs(made: Callable[[str], Made], corpus: Path, name: str) -> None:
    kinds = ("portable", "mutable", "xnnpack", "external_constants", "multi_method")
    seeds = [made(kind).pte for kind in kinds]
    seeds += [(corpus / f"{n}.pte").read_bytes() for n in ("lstm", "linear-inline-constants")]
    other = program(made("mutable").pte)
    dice = random.Random(name)
    accepted = 0
    for _ in range(100):
        with suppress(PteronError):
            EDITS[name](program(damaged(dice.choice(seeds), dice)), other)
            accepted += 1
    assert accepted < 100


def test_a_memory_id_that_does_not_exist() -> None:
    """Moving it behind another program's would make a table of four billion sizes."""
    tensors = [float_tensor(0), float_tensor(16), EValue(Int(1)), float_tensor(32)]
    file = PTEFile(Program(execution_plan=[add_plan(tensors, [0, 1])]))
    parts = edit.rename(file, {"forward": "other"}).parts()
    tensor = parts.program.execution_plan[0].values[0].val
    assert isinstance(tensor, Tensor)
    tensor.allocation_info = AllocationDetails(memory_id=0xFFFFFFFF)
    with pytest.raises(FormatError, match="'other': a tensor lies in memory 4294967295, which"):
        edit.merge(file, PTEFile(**vars(parts)))
