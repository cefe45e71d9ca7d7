"""Arrays in and out of NumPy's files."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest

from pteron.errors import FileAccessError, FormatError, UsageError
from pteron.runtime.npz import read_inputs, write_outputs
from pteron.runtime.signature import Parameter

A = Parameter("a", np.dtype(np.float32), (2,), (2,))
N = Parameter("n", None, kind="int")


@pytest.mark.parametrize("dtype", [ml_dtypes.bfloat16, ml_dtypes.float8_e5m2])
def test_dtypes_that_numpy_cannot_name_are_widened(tmp_path: Path, dtype: type) -> None:
    write_outputs(tmp_path / "o.npz", {"y": np.array([1.5, -2], dtype)})
    written = np.load(tmp_path / "o.npz")["y"]
    assert written.dtype == np.float32
    assert written.tolist() == [1.5, -2]


def test_a_number_comes_from_an_array_of_one(tmp_path: Path) -> None:
    np.savez(tmp_path / "i.npz", a=np.zeros(2, np.float32), n=np.int64(7))
    assert read_inputs(tmp_path / "i.npz", [A, N])["n"] == 7


def test_order_is_that_of_the_parameters(tmp_path: Path) -> None:
    np.savez(tmp_path / "i.npz", n=np.int64(7), a=np.zeros(2, np.float32))
    assert list(read_inputs(tmp_path / "i.npz", [A, N])) == ["a", "n"]


def test_bad_files(tmp_path: Path) -> None:
    with pytest.raises(FileAccessError, match="No such file"):
        read_inputs(tmp_path / "missing.npz", [A])
    with pytest.raises(FileAccessError, match="directory"):
        read_inputs(tmp_path, [A])
    for content in (b"", b"text", b"PK\x03\x04 truncated"):
        (tmp_path / "bad.npz").write_bytes(content)
        with pytest.raises(FormatError, match=r"no \.npz or \.npy file"):
            read_inputs(tmp_path / "bad.npz", [A])
    np.save(tmp_path / "objects.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(FormatError, match=r"no \.npz or \.npy file"):
        read_inputs(tmp_path / "objects.npy", [A])


def test_wrong_keys(tmp_path: Path) -> None:
    np.savez(tmp_path / "i.npz", a=np.zeros(2), b=np.zeros(2))
    with pytest.raises(UsageError, match="holds a, b; the inputs are a, n"):
        read_inputs(tmp_path / "i.npz", [A, N])
