"""Arrays from files: .npy, .npz and .safetensors."""

from __future__ import annotations

import tokenize
import zipfile
import zlib
from collections.abc import Mapping
from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np

from pteron.errors import FileAccessError, FormatError, UnsupportedError, UsageError
from pteron.files.saving import write_atomically
from pteron.progress import stage
from pteron.suggestions import listed, meant

Array = np.ndarray[Any, np.dtype[Any]]

_DAMAGED: tuple[type[Exception], ...] = (
    ValueError,
    EOFError,
    zipfile.BadZipFile,
    zlib.error,
    NotImplementedError,
    MemoryError,
    OverflowError,
    tokenize.TokenError,
    SyntaxError,
)
"""What NumPy and zipfile raise for bytes that are no array."""


def read_array(path: Path | str, key: str | None = None, *, default: str | None = None) -> Array:
    """One array of a file: ``key``, or the one called ``default``, or the only one.

    Raises FileAccessError, FormatError, or UsageError where it is not clear which one is meant.
    """
    arrays = read_arrays(path)
    holds = f"it holds: {listed(arrays)}"
    if key is not None:
        if key not in arrays:
            raise UsageError(f"{path} has no array {key!r}{meant(key, arrays)}; {holds}")
        return arrays[key]
    if default in arrays:
        return arrays[default]
    if len(arrays) != 1:
        raise UsageError(f"{path}: say which array is meant; {holds}")
    return next(iter(arrays.values()))


def read_arrays(path: Path | str) -> dict[str, Array]:
    """Every array by name; that of a .npy file by the file's name without its ending.

    Raises FileAccessError, FormatError, or UnsupportedError for a dtype that NumPy cannot hold.
    """
    path = Path(path)
    try:
        with stage(f"read {path.name}"):
            return _read_safetensors(path) if path.suffix == ".safetensors" else _read_numpy(path)
    except OSError as error:
        raise FileAccessError(f"{path}: {error.strerror or error}") from None


def _read_numpy(path: Path) -> dict[str, Array]:
    try:
        loaded = np.load(path, allow_pickle=False)
        if isinstance(loaded, np.ndarray):
            return {path.stem: loaded}
        with loaded:
            return {name: loaded[name] for name in loaded.files}
    except _DAMAGED as error:
        raise FormatError(f"{path} is no .npy or .npz file{_reason(error)}") from None


def _reason(error: Exception) -> str:
    """NumPy's own words, but for its advice to unpickle, which could run code from the file."""
    text = str(error)
    if "Object arrays" in text:
        return " that can be read: it holds Python objects"
    return "" if "pickle" in text else f": {text}"


def _read_safetensors(path: Path) -> dict[str, Array]:
    from safetensors import SafetensorError, safe_open

    try:
        with safe_open(path, framework="numpy") as file:
            return {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
    except SafetensorError as error:
        raise FormatError(f"{path} is not a .safetensors file: {error}") from None
    except AttributeError as error:  # safetensors looks the dtype up in NumPy
        raise UnsupportedError(f"{path}: {error}") from None


def write_arrays(path: Path | str, arrays: Mapping[str, Array]) -> None:
    """Write an .npz, whole or not at all. Raises FileAccessError where it cannot.

    bfloat16 and float8, which NumPy's format cannot name, are written as float32.
    """
    storable: dict[str, Any] = {name: _storable(array) for name, array in arrays.items()}
    archive = BytesIO()
    np.savez(archive, allow_pickle=False, **storable)
    write_atomically(path, [archive.getbuffer()])


def _storable(array: Array) -> Array:
    of_numpy = array.dtype.type.__module__ == "numpy"
    return array if of_numpy else array.astype(np.float32)
