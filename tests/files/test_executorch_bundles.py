"""Bundled programs against ExecuTorch's own reader, and its runtime's verification."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from executorch.devtools.bundled_program.serialize import (
    deserialize_from_flatbuffer_to_bundled_program,
)
from executorch.extension.pybindings import portable_lib

from pteron.files import BundledFile
from pteron.files import open as open_file
from pteron.files.check import check
from pteron.schema import bundled
from pteron.schema.program import ScalarType
from tests.files.oracle import plain
from tests.files.programs import add_program


def opened(data: bytes) -> BundledFile:
    file = open_file(data)
    assert isinstance(file, BundledFile)
    return file


@pytest.mark.parametrize("name", ["bundled-2023.bp", "bundled-2025.bpte"])
def test_corpus(corpus: Path, name: str) -> None:
    data = (corpus / name).read_bytes()
    file = opened(data)
    assert plain(file.bundle) == plain(deserialize_from_flatbuffer_to_bundled_program(data))
    assert check(file) == []
    again = b"".join(file._encode())
    assert len(again) <= len(data)
    assert plain(deserialize_from_flatbuffer_to_bundled_program(again)) == plain(file.bundle)
    assert b"".join(opened(again)._encode()) == again


def value(array: np.ndarray) -> bundled.Value:
    order = list(range(array.ndim))
    tensor = bundled.Tensor(ScalarType.FLOAT, list(array.shape), array.tobytes(), order)
    return bundled.Value(tensor)


@pytest.mark.parametrize(("expected", "passes"), [(3.0, True), (4.0, False)])
def test_executorch_verifies_what_is_written(expected: float, passes: bool) -> None:
    ones = np.ones((2, 2), np.float32)
    case = bundled.BundledMethodTestCase(
        [value(ones), value(2 * ones)], [value(np.float32(expected) * ones)]
    )
    suite = bundled.BundledMethodTestSuite("forward", [case])
    data = BundledFile(add_program(), [suite]).to_bytes()
    verify = portable_lib._load_bundled_program_from_buffer(data)
    if passes:
        verify.verify_result_with_bundled_expected_output("forward", 0, 1e-5, 1e-5)
    else:
        with pytest.raises(RuntimeError):
            verify.verify_result_with_bundled_expected_output("forward", 0, 1e-5, 1e-5)
