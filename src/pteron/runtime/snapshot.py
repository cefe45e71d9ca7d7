"""Every state's value at one moment, in memory or in a .safetensors file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np

from pteron.errors import FileAccessError, FormatError, StateError
from pteron.files.saving import write_atomically
from pteron.runtime.arrays import Array

IDENTITY_KEY = "pteron.identity"
_RESERVED = "__metadata__"
"""The one name that the .safetensors format keeps for itself."""
_DTYPES: dict[str, Any] = {
    "BOOL": np.bool_,
    "U8": np.uint8,
    "I8": np.int8,
    "U16": np.uint16,
    "I16": np.int16,
    "U32": np.uint32,
    "I32": np.int32,
    "U64": np.uint64,
    "I64": np.int64,
    "F16": np.float16,
    "BF16": ml_dtypes.bfloat16,
    "F32": np.float32,
    "F64": np.float64,
    "F8_E4M3": ml_dtypes.float8_e4m3fn,
    "F8_E5M2": ml_dtypes.float8_e5m2,
    "F8_E4M3FNUZ": ml_dtypes.float8_e4m3fnuz,
    "F8_E5M2FNUZ": ml_dtypes.float8_e5m2fnuz,
}
"""The format's names of the dtypes that an ExecuTorch tensor may have."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Every state's value at one moment, and the identity of the program it belongs to.

    It stays valid whatever its module does later, and may be restored any number of times, in any
    module of the same program. Arrays of a snapshot that was taken or loaded are read-only.
    """

    identity: str
    values: Mapping[str, Array]

    def save(self, path: str | Path) -> None:
        """Write as .safetensors, whole or not at all.

        Raises FileAccessError where it cannot, StateError for a name the format has no room for.
        """
        from safetensors.numpy import save

        if _RESERVED in self.values:
            raise StateError(f"a state called '{_RESERVED}' cannot be saved as .safetensors")
        arrays = {name: np.require(value, requirements="C") for name, value in self.values.items()}
        write_atomically(path, [save(arrays, metadata={IDENTITY_KEY: self.identity})])

    @classmethod
    def load(cls, path: str | Path) -> Snapshot:
        """Read what :meth:`save` wrote.

        Raises FileAccessError where the file cannot be read, FormatError where it is no snapshot.
        """
        from safetensors import SafetensorError, deserialize, safe_open

        if Path(path).is_dir():
            raise FileAccessError(f"{path}: is a directory")
        try:
            with safe_open(path, framework="numpy") as file:
                metadata = file.metadata() or {}
            tensors = deserialize(Path(path).read_bytes())  # type: ignore[no-untyped-call]
        except OSError as error:
            raise FileAccessError(f"{path}: cannot read the snapshot: {error}") from None
        except SafetensorError as error:
            raise FormatError(f"{path} is not a .safetensors file: {error}") from None
        if IDENTITY_KEY not in metadata:
            raise FormatError(f"{path} is no snapshot of a program's state")
        return cls(metadata[IDENTITY_KEY], {name: _array(name, tensor) for name, tensor in tensors})


def _array(name: str, tensor: Mapping[str, Any]) -> Array:
    """A tensor of a .safetensors file; its own reader for NumPy knows no float8."""
    dtype = _DTYPES.get(tensor["dtype"])
    if dtype is None:
        raise FormatError(f"state '{name}' has dtype {tensor['dtype']}, which no state can have")
    return read_only(np.frombuffer(tensor["data"], dtype).reshape(tensor["shape"]))


def read_only(array: Array) -> Array:
    """The same array, which cannot be written through any more."""
    array.setflags(write=False)
    return array
