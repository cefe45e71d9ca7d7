"""The page of ``pteron inspect`` fits its terminal, whatever is in the file."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from rich.cells import cell_len

from pteron.cli.text import printable
from pteron.dtypes import ScalarType
from pteron.files import NamedBlob, PTEFile
from pteron.schema.program import (
    BackendDelegate,
    BackendDelegateDataReference,
    Chain,
    DataLocation,
    DelegateCall,
    EValue,
    ExecutionPlan,
    Instruction,
    Int,
    KernelCall,
    Operator,
    Program,
    Tensor,
)
from tests.cli.conftest import Command

_ANSI = re.compile(r"\x1b\[[0-9;]*m")
CORPUS = [
    "add-2023.pte",
    "bundled-2023.bp",
    "bundled-2025.bpte",
    "dynamic-shape.pte",
    "linear-external.ptd",
    "lstm.pte",
    "multi-method.pte",
    "stories260k-qnn.pte",
]
NAMES = {
    "long": "model.layers." + "attention_" * 40 + "weight",
    "wide": "模型的很长的名字" * 30,
    "spaced": "a name of many words " * 20,
    "hostile": "\x1b]0;owned\x07[bold red]\u202e{}" * 12,
    "combining": "e\u0301" * 200,
    "short": "x",
}


def tensor(*sizes: int) -> EValue:
    return EValue(
        Tensor(
            scalar_type=ScalarType.FLOAT,
            sizes=list(sizes),
            dim_order=list(range(len(sizes))),
        )
    )


def method(name: str, inputs: int, operators: int) -> ExecutionPlan:
    """A method with so many inputs, kernels, and one delegate."""
    calls: list[KernelCall | DelegateCall] = [KernelCall(op_index=n) for n in range(operators)]
    return ExecutionPlan(
        name=name,
        values=[tensor(1, 2, 3) for _ in range(inputs)],
        inputs=list(range(inputs)),
        outputs=[0],
        operators=[Operator(name=f"aten::{name}{n}", overload="out") for n in range(operators)],
        chains=[Chain(instructions=[Instruction(c) for c in [*calls, DelegateCall()]])],
        delegates=[
            BackendDelegate(id=name, processed=BackendDelegateDataReference(DataLocation.INLINE, 0))
        ],
    )


def file_of(name: str, methods: int, inputs: int = 3, operators: int = 3) -> PTEFile:
    plans = [method(f"{name}{n}", inputs, operators) for n in range(methods)]
    plans.append(ExecutionPlan(name=f"get_{name}", values=[EValue(Int(3))], outputs=[0]))
    return PTEFile(
        program=Program(execution_plan=plans),
        delegate_payloads=[b"payload"],
        named_data={f"{name}{n}": NamedBlob(b"data") for n in range(methods)},
    )


def page(
    pteron: Command, path: Path, width: int, colour: bool, patch: pytest.MonkeyPatch, *options: str
) -> str:
    patch.setenv("COLUMNS", str(width))
    patch.delenv("NO_COLOR", raising=False)
    patch.delenv("FORCE_COLOR", raising=False)
    if colour:
        patch.setenv("FORCE_COLOR", "1")
    outcome = pteron("inspect", path, *options)
    assert (outcome.code, outcome.err) == (0, "")
    assert ("\x1b[" in outcome.out) == colour
    text = _ANSI.sub("", outcome.out)
    assert "\x1b" not in text
    too_long = [line for line in text.splitlines() if cell_len(line) > width]
    assert not too_long
    return text


@pytest.mark.parametrize("colour", [False, True], ids=["plain", "colour"])
@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("name", CORPUS)
def test_files_that_others_made_fit(
    pteron: Command,
    corpus: Path,
    name: str,
    width: int,
    colour: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    page(pteron, corpus / name, width, colour, monkeypatch)
    page(pteron, corpus / name, width, colour, monkeypatch, "--all")


@pytest.mark.parametrize("colour", [False, True], ids=["plain", "colour"])
@pytest.mark.parametrize("width", [80, 100])
@pytest.mark.parametrize("kind", NAMES)
def test_any_name_fits_and_is_there_in_full(
    pteron: Command,
    tmp_path: Path,
    kind: str,
    width: int,
    colour: bool,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    path = tmp_path / "made.pte"
    file_of(NAMES[kind], methods=2).save(path)
    text = page(pteron, path, width, colour, monkeypatch)
    said = "".join(text.split())
    for expected in (f"Method{NAMES[kind]}0", f"{NAMES[kind]}1[0]", f"aten::{NAMES[kind]}0"):
        assert "".join(printable(expected).split()) in said
    assert "…" not in text  # in tables, long names go on below themselves


def test_every_long_list_folds_and_unfolds(
    pteron: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "made.pte"
    file_of("m", methods=15, inputs=40, operators=20).save(path)
    folded = page(pteron, path, 80, False, monkeypatch)
    for words in (
        "and 28 more: --all shows them",  # inputs
        "and 8 more: --all shows them",  # kernels
        "and 3 more methods: --all shows them",
        "and 3 more delegates: --all shows them",
        "and 3 more: --all shows them",  # named data
    ):
        assert words in folded
    assert "input_39" not in folded and "Method m14" not in folded
    unfolded = page(pteron, path, 80, False, monkeypatch, "--all")
    assert "--all" not in unfolded
    assert "input_39" in unfolded and "Method m14" in unfolded and "m14[0]" in unfolded


def test_one_more_is_shown_and_not_counted(
    pteron: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "made.pte"
    file_of("m", methods=1, inputs=13).save(path)
    text = page(pteron, path, 80, False, monkeypatch)
    assert "input_12" in text and "--all" not in text


def test_a_line_is_broken_between_values(
    pteron: Command, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "made.pte"
    file_of("m", methods=1, inputs=9).save(path)
    text = page(pteron, path, 80, False, monkeypatch)
    for number in range(9):
        assert f"input_{number}: float32[1, 2, 3]" in text
