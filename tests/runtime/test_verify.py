"""Bundled cases: foreign bundles pass, a wrong expectation is found and measured."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import pteron
from pteron.errors import FormatError
from pteron.files import BundledFile
from pteron.runtime.verify import EXACT, Tolerance, compare, value_of, verify
from pteron.schema import bundled

T = {"float32": Tolerance(0.1, 0.01)}


@pytest.mark.parametrize(("name", "cases"), [("bundled-2023.bp", 2), ("bundled-2025.bpte", 10)])
def test_bundles_that_others_made(corpus: Path, name: str, cases: int) -> None:
    bundle = pteron.open(corpus / name)
    results = list(verify(bundle, pteron.load(bundle, cache=None)))
    assert len(results) == cases
    assert all(result.passed for result in results)


def test_a_wrong_expectation_is_found(corpus: Path) -> None:
    bundle = pteron.open(corpus / "bundled-2025.bpte")
    tensor = bundle.test_suites[0].test_cases[3].expected_outputs[0].val
    values = np.frombuffer(tensor.data, np.int32).copy()
    values[1] += 7
    tensor.data = values.tobytes()
    results = list(verify(bundle, pteron.load(bundle, cache=None)))
    assert [r.case for r in results if not r.passed] == [3]
    assert results[3].largest == 7


def test_each_case_starts_from_the_first_state(counter_program: Path) -> None:
    def tensor(number: float) -> bundled.Value:
        data = np.full((1, 4), number, np.float32).tobytes()
        return bundled.Value(bundled.Tensor(6, [1, 4], data, [0, 1]))

    case = bundled.BundledMethodTestCase([tensor(1)], [tensor(2)])
    suite = bundled.BundledMethodTestSuite("forward", [case, case])
    bundle = BundledFile(pteron.open(counter_program), [suite])
    results = list(verify(bundle, pteron.load(bundle, cache=None)))
    assert [r.passed for r in results] == [True, True]


@pytest.mark.parametrize(
    ("output", "expected", "passed", "largest"),
    [
        ([1.0, 2.0], [1.0, 2.2], True, 0.2),
        ([1.0, 2.0], [1.0, 2.3], False, 0.3),
        ([np.nan, np.inf], [np.nan, np.inf], True, 0.0),
        ([np.inf], [-np.inf], False, np.inf),
        ([1.0], [1.0, 2.0], False, np.inf),
    ],
)
def test_comparison(
    output: list[float], expected: list[float], passed: bool, largest: float
) -> None:
    got = np.array(output, np.float32)
    result = compare("m", 0, "y", got, np.array(expected, np.float32), T)
    assert result.passed is passed
    assert result.largest == pytest.approx(largest)


def test_integers_must_be_equal() -> None:
    result = compare("m", 0, "y", np.array([5]), np.array([6]), T)
    assert (result.passed, result.tolerance) == (False, EXACT)


def test_a_case_with_too_few_bytes_is_a_format_error() -> None:
    value = bundled.Value(bundled.Tensor(6, [4], b"1234", [0]))
    with pytest.raises(FormatError, match="has 4 bytes"):
        value_of(value, "here")
