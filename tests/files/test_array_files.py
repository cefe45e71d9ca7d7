"""Arrays from files, good and bad."""

from __future__ import annotations

from pathlib import Path

import ml_dtypes
import numpy as np
import pytest
import torch
from safetensors.torch import save_file

from pteron.errors import FileAccessError, FormatError, UnsupportedError, UsageError
from pteron.files.array_files import read_array, read_arrays, write_arrays

A, B = np.arange(3), np.ones((2, 2), np.float32)


def test_every_kind(tmp_path: Path) -> None:
    np.save(tmp_path / "a.npy", A)
    np.savez(tmp_path / "ab.npz", a=A, b=B)
    tensors = {"a": torch.from_numpy(A), "h": torch.ones(2, dtype=torch.bfloat16)}
    save_file(tensors, tmp_path / "ah.safetensors")
    assert np.array_equal(read_array(tmp_path / "a.npy", default="whatever"), A)
    assert np.array_equal(read_array(tmp_path / "ab.npz", "b"), B)
    assert np.array_equal(read_array(tmp_path / "ab.npz", default="a"), A)
    assert np.array_equal(read_array(tmp_path / "ah.safetensors", "a"), A)
    assert read_array(tmp_path / "ah.safetensors", "h").dtype == ml_dtypes.bfloat16


def test_written_and_read(tmp_path: Path) -> None:
    arrays = {"forward/0/input/x": A, "y": B}
    write_arrays(tmp_path / "out.npz", arrays)
    again = read_arrays(tmp_path / "out.npz")
    assert again.keys() == arrays.keys()
    assert all(np.array_equal(again[key], array) for key, array in arrays.items())
    with pytest.raises(FileAccessError):
        write_arrays(tmp_path / "missing" / "out.npz", arrays)


def test_which_one(tmp_path: Path) -> None:
    np.savez(tmp_path / "ab.npz", a=A, b=B)
    with pytest.raises(UsageError, match="has no array 'c'; it holds: a, b"):
        read_array(tmp_path / "ab.npz", "c")
    with pytest.raises(UsageError, match="say which array is meant; it holds: a, b"):
        read_array(tmp_path / "ab.npz", default="c")


@pytest.mark.parametrize("name", ["x.npy", "x.npz", "x.safetensors"])
def test_what_is_no_array(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    with pytest.raises(FileAccessError, match="No such file"):
        read_arrays(path)
    for content in (
        b"",
        b"nonsense" * 10,
        b"\x93NUMPY\x01\x00\xff\xff{",
        b"PK\x03\x04" + bytes(40),
    ):
        path.write_bytes(content)
        with pytest.raises(FormatError, match=f"{name} is "):
            read_arrays(path)
    np.save(tmp_path / "objects.npy", np.array([object()]), allow_pickle=True)
    with pytest.raises(FormatError, match=r"can be read: it holds Python objects$"):
        read_arrays(tmp_path / "objects.npy")


@pytest.mark.parametrize("step", range(30, 900, 60))
def test_damaged_archives(tmp_path: Path, step: int) -> None:
    """A byte changed anywhere gives the arrays or one error, never another exception."""
    path = tmp_path / "ab.npz"
    np.savez_compressed(path, a=np.arange(200), b=B)
    data = bytearray(path.read_bytes())
    data[step % len(data)] ^= 0x55
    path.write_bytes(data)
    try:
        read_arrays(path)
    except (FormatError, UsageError) as error:
        assert str(path) in str(error)


def test_a_dtype_without_numpy(tmp_path: Path) -> None:
    path = tmp_path / "f8.safetensors"
    save_file({"a": torch.ones(2, dtype=torch.float8_e4m3fn)}, path)
    with pytest.raises(UnsupportedError, match="float8_e4m3fn"):
        read_arrays(path)


@pytest.mark.parametrize("dtype", ["bfloat16", "float8_e5m2"])
def test_dtypes_that_numpy_cannot_name_are_widened(tmp_path: Path, dtype: str) -> None:
    import ml_dtypes

    write_arrays(tmp_path / "o.npz", {"y": np.array([1.5, -2], getattr(ml_dtypes, dtype))})
    written = np.load(tmp_path / "o.npz")["y"]
    assert written.dtype == np.float32
    assert written.tolist() == [1.5, -2]


def test_no_advice_to_unpickle(tmp_path: Path) -> None:
    path = tmp_path / "text.npz"
    path.write_text("this is no array")
    with pytest.raises(FormatError, match=r"text.npz is no .npy or .npz file$"):
        read_arrays(path)
