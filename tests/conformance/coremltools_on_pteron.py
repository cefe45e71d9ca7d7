"""Pytest plugin: coremltools' own tests, predicting through pteron.

Off macOS those tests stop before they predict. Here they believe to be on a macOS that knows
every opset, and ``MLModel.predict`` and ``make_state`` are pteron's.

    python -m pytest -p tests.conformance.coremltools_on_pteron --pyargs \\
        coremltools.converters.mil.mil.ops.tests

Fewer, stricter or other tests: coremltools' own switches (``PYMIL_TEST_TARGETS`` and so on), which
``make conformance`` sets. Cases in :mod:`tests.conformance.known` are expected to fail.

The tests compare what an fp32 program computes at 1e-4. Some give it fp16 inputs or weights, or
compute what they expect in fp16, whose spacing is wider than that; those are compared at four
roundings of fp16 (2e-3), or, with ``--upstream-tolerances``, as they stand.
"""

from __future__ import annotations

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from pteron.errors import EngineError
from tests.conformance import known

os.environ.setdefault("PYMIL_TEST_TARGETS", "mlprogram")
os.environ.setdefault("INCLUDE_MIL_FP32_UNIT_TESTS", "1")

_FP16_TOLERANCE = 4 * 2.0**-11


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


def _collect_no_garbage_after_each_conversion() -> None:
    """``ct.convert`` ends with a full collection, which takes longer than the case does."""
    from coremltools.converters import _converters_entry

    _converters_entry.gc = SimpleNamespace(collect=lambda: 0)


def _compare_fp16_as_fp16() -> None:
    from coremltools.converters.mil import testing_utils

    compare = testing_utils.compare_backend

    def compare_backend(
        mlmodel: Any, input_key_values: Any, expected_outputs: dict[str, Any], **kwargs: Any
    ) -> Any:
        computed = any(getattr(e, "dtype", None) == np.float16 for e in expected_outputs.values())
        if computed or _holds_fp16(mlmodel.get_spec()):
            kwargs["atol"] = max(kwargs.get("atol", 0.0), _FP16_TOLERANCE)
            kwargs["rtol"] = max(kwargs.get("rtol", 0.0), _FP16_TOLERANCE)
        return compare(mlmodel, input_key_values, expected_outputs, **kwargs)

    testing_utils.compare_backend = compare_backend


def _holds_fp16(spec: Any) -> bool:
    """Whether an ML program has an fp16 value: an input, a weight, or one that it computes."""
    from coremltools.proto.MIL_pb2 import FLOAT16

    return any(
        value.type.tensorType.dataType == FLOAT16
        for function in spec.mlProgram.functions.values()
        for block in function.block_specializations.values()
        for values in (function.inputs, *(op.outputs for op in block.operations))
        for value in values
    )


def _fail_in_their_words() -> None:
    """Tests of errors look for the words in which Core ML's framework begins."""
    from coremltools.models import MLModel

    predict = MLModel.predict

    def in_their_words(self: Any, *args: Any, **kwargs: Any) -> Any:
        try:
            return predict(self, *args, **kwargs)
        except EngineError as error:
            message = f"Unable to compute the prediction using ML Program: {error}"
            raise RuntimeError(message) from error

    MLModel.predict = in_their_words


def pytest_configure(config: pytest.Config) -> None:
    import pteron.coreml

    _believe_in_macos()
    _collect_no_garbage_after_each_conversion()
    pteron.coreml.enable_predict(threads=1)
    _fail_in_their_words()
    if not config.getoption("--upstream-tolerances"):
        _compare_fp16_as_fp16()


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--cases", type=int, default=0, help="run about this many cases of every test (0: all)"
    )
    parser.addoption(
        "--upstream-tolerances",
        action="store_true",
        help="compare what fp16 values give at 1e-4 too",
    )


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Keep an even choice of each test function's cases, the same in every run."""
    for item in items:
        if why := known.reason(item.nodeid):
            item.add_marker(pytest.mark.xfail(reason=why))
    limit = config.getoption("--cases")
    if not limit:
        return
    groups: dict[tuple[Path, str], list[pytest.Item]] = {}
    for item in items:
        groups.setdefault(_function(item), []).append(item)
    items[:] = [item for group in groups.values() for item in _spread(group, limit)]


def _function(item: pytest.Item) -> tuple[Path, str]:
    """The test function of a case. Its node id has no module where a module was asked for."""
    return item.path, item.nodeid.partition("[")[0]


def _spread(group: list[pytest.Item], limit: int) -> list[pytest.Item]:
    step = len(group) / limit
    return group if step <= 1 else [group[int(i * step)] for i in range(limit)]
