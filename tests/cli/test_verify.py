"""``pteron verify`` as a user calls it."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from pteron.files import BundledFile
from pteron.files import open as pteron_open
from tests.cli.conftest import Command


@pytest.fixture
def bundle(pteron: Command, counter_program: Path, tmp_path: Path) -> Path:
    path, cases = tmp_path / "counter.bpte", tmp_path / "cases.npz"
    np.savez(cases, **{"input/0": np.zeros((1, 4), np.float32)})
    outcome = pteron("bundle", counter_program, cases, "--run", "-o", path)
    assert outcome.code == 0, outcome.err
    return path


def test_one_output_is_one_output(pteron: Command, bundle: Path) -> None:
    outcome = pteron("verify", bundle)
    assert outcome.code == 0
    assert outcome.out.endswith("\n1 output compared, 0 different\n")


def test_a_case_without_expected_outputs_does_not_pass(
    pteron: Command, counter_program: Path, tmp_path: Path
) -> None:
    path, cases = tmp_path / "counter.bpte", tmp_path / "cases.npz"
    ones = np.ones((1, 4), np.float32)
    np.savez(cases, **{"forward/0/input/0": ones, "forward/1/input/0": ones})
    assert pteron("bundle", counter_program, cases, "-o", path).code == 0
    outcome = pteron("verify", path)
    assert outcome.code == 1
    assert "no expected outputs" in outcome.out
    assert "0 outputs compared, 0 different, 2 cases without expected outputs" in outcome.out
    (first, _) = json.loads(pteron("verify", path, "--json").out)
    assert (first["output"], first["passed"], first["largest"]) == ("", False, None)


def test_a_bundle_without_cases(pteron: Command, counter_program: Path, tmp_path: Path) -> None:
    path = tmp_path / "none.bpte"
    BundledFile(pteron_open(counter_program), []).save(path)
    outcome = pteron("verify", path)
    assert (outcome.code, outcome.out) == (2, "")
    assert "has no test cases" in outcome.err


@pytest.mark.parametrize(
    ("tolerance", "message"),
    [
        ("foo=1,1", "there is no dtype 'foo'"),
        ("float32=-1,0", "must be 0 or more"),
        ("float32=0,nan", "must be 0 or more"),
        ("float32=1", "takes DTYPE=RTOL,ATOL"),
    ],
)
def test_a_tolerance_that_is_none(
    pteron: Command, bundle: Path, tolerance: str, message: str
) -> None:
    outcome = pteron("verify", bundle, "--tolerance", tolerance)
    assert (outcome.code, outcome.out) == (2, "")
    assert message in outcome.err
