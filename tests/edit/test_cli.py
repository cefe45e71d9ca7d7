"""``pteron edit``, ``bundle`` and ``unbundle`` from the shell."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch

from pteron.files import BundledFile, PTEFile
from pteron.files import open as open_file
from tests.cli.conftest import Command
from tests.edit.proof import assert_equal, program, proven, run
from tests.edit.test_drop_unknown import newer as newer
from tests.edit.test_payloads import unpacked
from tests.files.made import Made, X, mlp

Maker = Callable[[str], Made]


@pytest.fixture
def file(made: Maker, tmp_path: Path) -> Callable[[str], Path]:
    """``file("xnnpack")``: the path of a program that ExecuTorch made."""

    def write(kind: str) -> Path:
        path = tmp_path / f"{kind}.pte"
        path.write_bytes(made(kind).pte)
        return path

    return write


Files = Callable[[str], Path]


def opened(path: Path) -> PTEFile:
    found = program(path.read_bytes())
    proven(found)
    return found


def test_methods(pteron: Command, file: Files, made: Maker, tmp_path: Path) -> None:
    xnnpack, many, out = file("xnnpack"), file("multi_method"), tmp_path / "out.pte"
    assert pteron("edit", "rename", xnnpack, "forward=fast", "-o", xnnpack).code == 0
    assert pteron("edit", "merge", xnnpack, many, "-o", out).code == 0
    assert pteron("edit", "drop", out, "get_name", "double", "-o", out).code == 0
    added = ["get_ids=[1, 2]", "get_flag=true", "get_text=a=b", "get_scale=0.5", 'get_quoted="1"']
    np.save(tmp_path / "table.npy", np.arange(3))
    added.append(f"get_table=@{tmp_path / 'table.npy'}")
    assert pteron("edit", "add-constant-method", out, *added, "-o", out).code == 0
    assert [*opened(out).methods] == ["fast", "forward", "get_max_seq_len"] + [
        text.partition("=")[0] for text in added
    ]
    data = out.read_bytes()
    assert_equal(run(data, [X], "fast"), run(made("xnnpack").pte, [X]))
    assert_equal(run(data, [X]), run(made("multi_method").pte, [X]))
    assert run(data, method="get_table")[0].tolist() == [0, 1, 2]
    values = {name: m.plan.values[0].val for name, m in opened(out).methods.items()}
    assert [type(values[name]).__name__ for name in ("get_flag", "get_text", "get_quoted")] == [
        "Bool",
        "String",
        "String",
    ]


def test_constants(pteron: Command, file: Files, made: Maker, tmp_path: Path) -> None:
    program_path, array = file("mutable"), tmp_path / "first.npz"
    np.savez(array, total=np.full((2, 4), 5, np.float32), other=np.zeros(1))
    out = tmp_path / "out.pte"
    assert pteron("edit", "replace-constant", program_path, "total", array, "-o", out).code == 0
    (output,) = run(out.read_bytes(), made("mutable").inputs["forward"])
    assert torch.equal(output, torch.full((2, 4), 6.0))
    wrong = pteron(
        "edit", "replace-constant", program_path, "total", array, "--key", "other", "-o", out
    )
    assert wrong.code == 2
    assert "is float32[2, 4]; the array is float64[1]" in wrong.err
    for target in ("1", "forward:0"):
        outcome = pteron("edit", "replace-constant", program_path, target, array, "-o", out)
        assert (outcome.code, "say which array is meant" in outcome.err) == (2, True)


def test_out_and_in_again(pteron: Command, file: Files, made: Maker, tmp_path: Path) -> None:
    path, ptd = file("with_stacktraces"), tmp_path / "weights.ptd"
    outside, inside = tmp_path / "outside.pte", tmp_path / "inside.pte"
    assert pteron("edit", "externalise", path, "-o", outside, "--data", ptd).code == 0
    expected = run(made("with_stacktraces").pte, [X])
    assert_equal(run(outside.read_bytes(), [X], ptd=ptd.read_bytes()), expected)
    bias = tmp_path / "bias.npy"
    (name,) = (k for k, b in open_file(ptd).named_data.items() if len(b.data) == 32)  # type: ignore[union-attr]
    np.save(bias, mlp().state_dict()["2.bias"].numpy() + 1)
    assert pteron("edit", "replace-named", ptd, name, bias, "-o", ptd).code == 0
    assert pteron("edit", "inline", outside, ptd, "-o", inside).code == 0
    (output,) = run(inside.read_bytes(), [X])
    assert torch.allclose(output, expected[0] + 1)
    same = pteron("edit", "externalize", path, "-o", ptd, "--data", ptd)
    assert (same.code, "a file each" in same.err) == (2, True)


def test_payload_and_layout(
    pteron: Command, counter_program: Path, file: Files, tmp_path: Path
) -> None:
    package = unpacked(open_file(counter_program).delegates[0].payload, tmp_path)  # type: ignore[union-attr]
    out = tmp_path / "out.pte"
    assert (
        pteron("edit", "replace-payload", counter_program, "forward", package, "-o", out).code == 0
    )
    raw = tmp_path / "payload.bin"
    payload = bytes(open_file(counter_program).delegates[0].payload)  # type: ignore[union-attr]
    raw.write_bytes(payload)
    assert pteron("edit", "replace-payload", out, "forward:0", raw, "-o", out).code == 0
    assert bytes(program(out.read_bytes()).delegates[0].payload) == payload
    raw.write_bytes(b"garbage")
    outcome = pteron("edit", "replace-payload", out, "forward:0", raw, "-o", out)
    assert (outcome.code, "none of CoreMLBackend" in outcome.err) == (2, True)
    assert pteron("edit", "replace-payload", out, "forward:x", raw, "-o", out).code == 2

    path = file("with_stacktraces")
    assert pteron("edit", "strip", path, "--all", "-o", out).code == 0
    assert opened(out).program.execution_plan[0].chains[0].stacktrace is None
    assert pteron("edit", "strip", path, "-o", out).code == 2
    assert pteron("edit", "realign", path, "--segments", "4096", "-o", out).code == 0
    assert opened(out).program.segments[0].offset % 4096 == 0


def test_the_answer(pteron: Command, file: Files, tmp_path: Path) -> None:
    path, out = file("with_stacktraces"), tmp_path / "out.pte"
    before = path.stat().st_size
    outcome = pteron("edit", "strip", path, "--all", "-o", out, "--json")
    answer = json.loads(outcome.out)
    after = out.stat().st_size
    expected = {"output": str(out), "bytes": after, "input_bytes": before, "dropped": []}
    assert answer == expected
    outcome = pteron("edit", "strip", path, "--all", "-o", out)
    assert outcome.out == f"{out}: {after} bytes ({after - before:+})\n"


def test_fields_of_a_newer_schema(pteron: Command, newer: PTEFile, tmp_path: Path) -> None:
    path = tmp_path / "newer.pte"
    path.write_bytes(newer.to_bytes())
    before = path.read_bytes()
    rename = ("edit", "rename", path, "forward=other", "-o", path)
    outcome = pteron(*rename)
    assert outcome.code == 2
    assert "drop_unknown" in outcome.err
    assert path.read_bytes() == before
    outcome = pteron(*rename, "--drop-unknown")
    assert outcome.code == 0
    assert "dropped fields of a newer schema: Program.slot 8" in outcome.err
    assert [*opened(path).methods] == ["other"]
    outcome = pteron("edit", "externalise", path, "-o", path, "--data", tmp_path / "w.ptd")
    assert outcome.code == 0


def test_nothing_is_written_where_nothing_can_be(
    pteron: Command, newer: PTEFile, tmp_path: Path
) -> None:
    path = tmp_path / "newer.pte"
    path.write_bytes(newer.to_bytes())
    data = tmp_path / "w.ptd"
    outcome = pteron("edit", "externalise", path, "-o", tmp_path / "out.pte", "--data", data)
    assert outcome.code == 2
    assert sorted(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["rename", "PTE", "forward"], "'forward' is not of the form NAME=VALUE"),
        (["rename", "PTE", "x=y"], "there is no method 'x'"),
        (["drop", "PTE", "x"], "there is no method 'x'"),
        (["drop", "missing.pte", "x"], "No such file"),
        (["drop", "BPTE", "x"], "is a bundle; take the program out with 'pteron unbundle'"),
        (["drop", "PTD", "x"], "holds data only, not a program"),
        (["inline", "PTE", "PTE"], "is no data file (.ptd)"),
        (["merge", "PTE", "BPTE"], "is a bundle"),
        (["replace-payload", "PTE", "forward", "missing.bin"], "No such file"),
        (["replace-constant", "PTE", "1", "missing.npy"], "No such file"),
        (["replace-named", "PTE", "x", "missing.npy"], "No such file"),
        (["add-constant-method", "PTE", "get=@missing.npy"], "No such file"),
        (["realign", "PTE", "--segments", "3"], "alignment 3 is not a power of two"),
    ],
)
def test_bad_input(
    pteron: Command, file: Files, corpus: Path, tmp_path: Path, arguments: list[str], message: str
) -> None:
    places = {
        "PTE": file("xnnpack"),
        "PTD": corpus / "linear-external.ptd",
        "BPTE": corpus / "bundled-2025.bpte",
    }
    outcome = pteron("edit", *(places.get(a, a) for a in arguments), "-o", tmp_path / "out.pte")
    assert outcome.code == 2
    assert outcome.err.startswith("pteron: ")
    assert outcome.err.count("\n") == 1
    assert message in outcome.err
    assert not (tmp_path / "out.pte").exists()


# Bundles


def test_bundle_and_unbundle(pteron: Command, file: Files, made: Maker, tmp_path: Path) -> None:
    path, bpte, cases = file("multi_method"), tmp_path / "m.bpte", tmp_path / "cases.npz"
    (output,) = run(made("multi_method").pte, [X])
    keys = {"forward/0/input/0": X, "forward/1/input/0": 2 * X, "double/0/input/0": X}
    arrays = {key: tensor.numpy() for key, tensor in keys.items()}
    np.savez(cases, **arrays, **{"forward/0/output/0": output.numpy()})  # type: ignore[arg-type]
    outcome = pteron("bundle", path, cases, "-o", bpte, "--json")
    assert json.loads(outcome.out) == {"output": str(bpte), "cases": {"forward": 2, "double": 1}}
    out, again = tmp_path / "out.pte", tmp_path / "again.npz"
    assert pteron("unbundle", bpte, "-o", out, "--cases", again).code == 0
    assert out.read_bytes() == path.read_bytes()
    rebundled = tmp_path / "again.bpte"
    assert pteron("bundle", out, again, "-o", rebundled).code == 0
    assert rebundled.read_bytes() == bpte.read_bytes()
    assert pteron("unbundle", path, "-o", out).code == 2


def test_outputs_by_running(pteron: Command, counter_program: Path, tmp_path: Path) -> None:
    """Every case begins with the program's first state; outputs that are given stay."""
    bpte, cases = tmp_path / "counter.bpte", tmp_path / "cases.npz"
    ones = np.ones((1, 4), np.float32)
    keys = {"forward/0/input/0": ones, "forward/1/input/0": 2 * ones, "forward/2/input/0": ones}
    np.savez(cases, **keys, **{"forward/2/output/0": 9 * ones})  # type: ignore[arg-type]
    outcome = pteron("bundle", counter_program, cases, "-o", bpte, "--run")
    assert outcome.code == 0, outcome.err
    bundle = open_file(bpte)
    assert isinstance(bundle, BundledFile)
    outputs = [case.expected_outputs[0].val for case in bundle.test_suites[0].test_cases]
    assert [bytes(output.data) for output in outputs] == [  # type: ignore[union-attr]
        (factor * ones).tobytes() for factor in (2, 4, 9)
    ]


def test_the_short_form(pteron: Command, file: Files, tmp_path: Path) -> None:
    path, cases = file("multi_method"), tmp_path / "cases.npz"
    np.savez(cases, input_0=X.numpy())
    assert pteron("bundle", path, cases, "-o", tmp_path / "a.bpte").code == 0
    assert pteron("bundle", path, cases, "-o", tmp_path / "b.bpte", "--method", "double").code == 0
    outcome = pteron("bundle", path, cases, "-o", tmp_path / "c.bpte", "--method", "get_name")
    assert outcome.code == 2
    assert "get_name, case 0, input: no 'input_0'; there are: none" in outcome.err


def test_data_never_go_over_the_program(pteron: Command, file: Files, tmp_path: Path) -> None:
    path, out, link = file("with_stacktraces"), tmp_path / "out.pte", tmp_path / "link"
    before = path.read_bytes()
    link.hardlink_to(path)
    for data in (path, link):
        outcome = pteron("edit", "externalise", path, "-o", out, "--data", data)
        assert (outcome.code, "is the program itself" in outcome.err) == (2, True)
    assert pteron("edit", "externalise", path, "-o", path, "--data", link).code == 2
    assert path.read_bytes() == before
    assert not out.exists()


def test_a_damaged_program_is_not_bundled(pteron: Command, file: Files, tmp_path: Path) -> None:
    path, out = file("with_stacktraces"), tmp_path / "out.bpte"
    path.write_bytes(path.read_bytes()[:-64])
    np.savez(tmp_path / "cases.npz", input_0=X.numpy())
    outcome = pteron("bundle", path, tmp_path / "cases.npz", "-o", out)
    assert (outcome.code, "past the end of the file" in outcome.err) == (2, True)
    assert not out.exists()


def test_one_name_given_twice(pteron: Command, file: Files, tmp_path: Path) -> None:
    path, out = file("xnnpack"), tmp_path / "out.pte"
    for verb in ("rename", "add-constant-method"):
        outcome = pteron("edit", verb, path, "forward=a", "forward=b", "-o", out)
        assert (outcome.code, "'forward' is given twice: 'a' and 'b'" in outcome.err) == (2, True)
