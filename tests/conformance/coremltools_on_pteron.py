"""Pytest plugin: coremltools' own tests, predicting through pteron.

Off macOS those tests stop before they predict. Here they believe to be on a macOS that knows
every opset, and ``MLModel.predict`` and ``make_state`` are pteron's.

    python -m pytest -p tests.conformance.coremltools_on_pteron --pyargs \\
        coremltools.converters.mil.mil.ops.tests

Fewer, stricter or other tests: coremltools' own switches (``PYMIL_TEST_TARGETS`` and so on), which
``make conformance`` sets.
"""

from __future__ import annotations

import os

import pytest

os.environ.setdefault("PYMIL_TEST_TARGETS", "mlprogram")
os.environ.setdefault("INCLUDE_MIL_FP32_UNIT_TESTS", "1")


def _believe_in_macos() -> None:
    import coremltools as ct
    from coremltools import _deps
    from coremltools.models import utils

    version = (15, 4)
    _deps._IS_MACOS = True
    utils._macos_version = lambda: version
    utils._is_macos = lambda: True
    ct.utils._macos_version = lambda: version
    ct.utils._is_macos = lambda: True
    from coremltools.converters.mil import testing_utils

    testing_utils._IS_MACOS = True


def pytest_configure(config: pytest.Config) -> None:
    import pteron.coreml

    _believe_in_macos()
    pteron.coreml.enable_predict(threads=1)


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases", type=int, default=0, help="run about this many cases of every test (0: all)"
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep an even choice of each test function's cases, the same in every run."""
    limit = config.getoption("--cases")
    if not limit:
        return
    groups: dict[str, list[pytest.Item]] = {}
    for item in items:
        groups.setdefault(item.nodeid.partition("[")[0], []).append(item)
    items[:] = [item for group in groups.values() for item in _spread(group, limit)]


def _spread(group: list[pytest.Item], limit: int) -> list[pytest.Item]:
    step = len(group) / limit
    return group if step <= 1 else [group[int(i * step)] for i in range(limit)]
