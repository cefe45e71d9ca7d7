"""``pteron check --for``: what is said of a runtime, against the runtime where it is installed."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

import pteron
from pteron import edit
from pteron.errors import UsageError
from pteron.files import PTEFile
from pteron.files.check import Finding, Severity, check_for
from pteron.files.runtimes import RUNTIMES, find_runtime
from tests.files import record_runtime

WHEEL = "executorch-1.5.1"
ASK = """
import json, sys
from executorch.runtime import Runtime
from tests.files.record_runtime import registries

def loads(path):
    try:
        program = Runtime.get().load_program(path)
        for name in program.method_names:
            program.load_method(name)
    except Exception:
        return False
    return True

loaded = {path: loads(path) for path in sys.argv[1:]}
print(json.dumps({"registries": registries(), "loads": loaded}))
"""


def ask_the_wheel(*paths: Path) -> dict[str, Any]:
    """What the installed wheel registers, and whether it loads every method of these files.

    In a process of its own, as tests elsewhere load kernels.
    """
    command = [sys.executable, "-c", ASK, *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    answer: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return answer


def found(path: Path, runtime: str = WHEEL) -> list[Finding]:
    with pteron.open(path) as file:
        return check_for(file, find_runtime(runtime))


def errors(findings: list[Finding]) -> list[str]:
    return [f"{one.where}: {one.message}" for one in findings if one.severity is Severity.ERROR]


@pytest.fixture
def portable(tmp_path: Path) -> Path:
    class Model(torch.nn.Module):
        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return torch.sigmoid(x) + 1

    path = tmp_path / "portable.pte"
    pteron.lower(Model(), (torch.ones(2),), backend=None).save(path)
    return path


def renamed(source: Path, operator: str, to: tuple[str, str]) -> Path:
    """The program with another operator in one's place."""
    path = source.with_name("renamed.pte")
    with pteron.open(source) as file:
        assert isinstance(file, PTEFile)
        (one,) = [o for o in file.program.execution_plan[0].operators if o.name == operator]
        one.name, one.overload = to
        file.save(path)
    return path


@pytest.mark.slow
def test_the_wheel_agrees(counter_program: Path, portable: Path, corpus: Path) -> None:
    if f"executorch-{record_runtime.installed()}" != WHEEL:
        pytest.skip(f"another ExecuTorch is installed: {record_runtime.installed()}")
    missing = renamed(portable, "aten::sigmoid", ("aten::sigmoidal", "out"))
    names = ("add-2024.pte", "conv2d-quantized.pte", "lstm.pte")
    paths = [counter_program, portable, missing, *(corpus / name for name in names)]
    answer = ask_the_wheel(*paths)
    assert answer["registries"] == json.loads(record_runtime.path().read_text())
    assert answer["loads"] == {str(path): not errors(found(path)) for path in paths}
    assert set(answer["loads"].values()) == {True, False}


def test_portable_kernels(portable: Path) -> None:
    assert found(portable) == []


def test_a_kernel_that_is_not_there(portable: Path) -> None:
    path = renamed(portable, "aten::sigmoid", ("aten::sigmoidal", "out"))
    (message,) = errors(found(path))
    assert message.startswith("execution_plan[0].operators[")
    assert message.endswith(f"{WHEEL} has no kernel aten::sigmoidal.out")
    (finding,) = found(path, "executorch-ios18")
    assert finding.severity is Severity.WARNING  # an app links what it likes


def test_kernels_that_are_loaded_on_request(portable: Path) -> None:
    path = renamed(portable, "aten::add", ("quantized_decomposed::add", "out"))
    (finding,) = found(path)
    assert finding.severity is Severity.NOTE


def test_an_operator_that_nothing_calls_is_not_missed(portable: Path) -> None:
    with pteron.open(portable) as file:
        assert isinstance(file, PTEFile)
        plan = file.program.execution_plan[0]
        plan.operators.append(type(plan.operators[0])(name="my::own", overload="out"))
        assert check_for(file, find_runtime(WHEEL)) == []


@pytest.mark.parametrize(
    ("runtime", "said"),
    [
        (WHEEL, [".delegates[0].id: executorch-1.5.1 has no backend 'CoreMLBackend'"]),
        ("executorch-macos-pip", [".delegates[0].processed: has states (total)"]),
        (
            "executorch-ios17",
            [".processed: Core ML specification 9; ", ".processed: has states (total)"],
        ),
        ("executorch-macos14", [".processed: Core ML specification 9; ", "has states (total)"]),
        ("executorch-ios18", []),
        ("executorch-macos15", []),
        ("executorch-ios26", []),
        ("executorch-macos26", []),
    ],
)
def test_coreml_state(counter_program: Path, runtime: str, said: list[str]) -> None:
    messages = errors(found(counter_program, runtime))
    assert len(messages) == len(said)
    for message, expected in zip(messages, said, strict=True):
        assert message.startswith("execution_plan[0].delegates[0]")
        assert expected in message


def test_where_state_is_bound_it_is_said_on_what_that_depends(counter_program: Path) -> None:
    (finding,) = found(counter_program, "executorch-ios18")
    assert finding.severity is Severity.NOTE
    assert "Xcode 16" in finding.message


def test_a_state_of_two_delegates_is_two_states(counter_program: Path) -> None:
    with pteron.open(counter_program) as one:
        assert isinstance(one, PTEFile)
        merged = edit.merge(one, edit.rename(one, {"forward": "again"}))
    warnings = [
        finding
        for finding in check_for(merged, find_runtime("executorch-ios18"))
        if finding.severity is Severity.WARNING
    ]
    (finding,) = warnings
    assert finding.where == "execution_plan[1].delegates[0].processed"
    assert "state total is in execution_plan[0].delegates[0].processed too" in finding.message


def test_without_state_it_suits_the_macos_wheel(tmp_path: Path) -> None:
    model = torch.nn.Linear(3, 3)
    path = tmp_path / "linear.pte"
    pteron.lower(model, (torch.ones(1, 3),)).save(path)
    assert found(path, "executorch-macos-pip") == []


def test_in_a_bundle_the_path_says_so(counter_program: Path) -> None:
    with pteron.open(counter_program) as file:
        assert isinstance(file, PTEFile)
        bundle = edit.bundle(file, {})
        (message,) = errors(check_for(bundle, find_runtime(WHEEL)))
    assert message.startswith("program.execution_plan[0].delegates[0].id")


def test_a_payload_that_cannot_be_read_is_a_warning(counter_program: Path) -> None:
    with pteron.open(counter_program) as file:
        assert isinstance(file, PTEFile)
        parts = file.parts()
        parts.delegate_payloads = [b"nonsense"]
        broken = PTEFile(**vars(parts))
    (finding,) = check_for(broken, find_runtime("executorch-ios18"))
    assert finding.severity is Severity.WARNING


def test_data_files_suit_every_runtime(corpus: Path) -> None:
    for name in RUNTIMES:
        assert found(corpus / "linear-external.ptd", name) == []


def test_an_unknown_runtime_is_answered_with_those_there_are() -> None:
    with pytest.raises(UsageError, match=r"did you mean 'executorch-1\.5\.1'.*executorch-ios18"):
        find_runtime("executorch-1.5")


@pytest.mark.parametrize("check", [lambda r: r.title, lambda r: r.source])
def test_every_runtime_says_what_it_is_and_how_that_is_known(
    check: Callable[[object], str],
) -> None:
    assert all(check(runtime) for runtime in RUNTIMES.values())
