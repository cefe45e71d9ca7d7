"""A few of coremltools' own tests, the way ``make conformance`` runs them all."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from tests.conformance import coremltools_on_pteron, known

ROOT = Path(__file__).resolve().parents[2]
TESTS = "coremltools.converters.mil.mil.ops.tests"


@pytest.mark.slow
@pytest.mark.parametrize("module", ["iOS14.test_linear", "iOS18.test_states"])
def test_a_case_of_every_test_predicts_right(module: str, tmp_path: Path) -> None:
    arguments = ["-c", os.devnull, "--rootdir", str(tmp_path), "-p", "no:cacheprovider", "-q"]
    arguments += ["-p", "tests.conformance.coremltools_on_pteron", "--cases", "1"]
    environment = os.environ | {"RUN_BACKWARD_COMPATIBILITY": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, "-m", "pytest", *arguments, "--pyargs", f"{TESTS}.{module}"],
        cwd=ROOT,
        env=environment,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-3000:]
    assert " passed" in done.stdout


def test_expected_failures_are_found_by_their_node_ids() -> None:
    assert known.reason(
        "iOS14/test_tensor_operation.py::TestFill::test_builder_to_backend_symbolic[a]"
    )
    assert (
        known.reason("iOS14/test_tensor_operation.py::TestFill::test_builder_to_backend_smoke")
        is None
    )


def test_a_sample_counts_functions_of_one_name_by_module() -> None:
    items = [
        SimpleNamespace(path=Path(module), nodeid=f"::TestTopK::test_smoke[{case}]")
        for module in ("iOS16/test_reduction.py", "iOS17/test_reduction.py")
        for case in range(6)
    ]
    kept = list(items)
    config = SimpleNamespace(getoption=lambda name: 2)
    coremltools_on_pteron.pytest_collection_modifyitems(config, kept)
    assert kept == [items[0], items[3], items[6], items[9]]
