"""NumPy arrays as torch tensors and back, sharing memory."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import torch

# Constants are views of a file that is mapped for reading; kernels are kept from writing to them.
warnings.filterwarnings("ignore", "The given NumPy array is not writable", UserWarning, __name__)

# dtypes that NumPy has only through ml_dtypes: torch dtype, and the integer both can be viewed as
_FOREIGN: dict[str, tuple[torch.dtype, Any]] = {
    "bfloat16": (torch.bfloat16, np.int16),
    "float8_e5m2": (torch.float8_e5m2, np.int8),
    "float8_e4m3fn": (torch.float8_e4m3fn, np.int8),
    "float8_e5m2fnuz": (torch.float8_e5m2fnuz, np.int8),
    "float8_e4m3fnuz": (torch.float8_e4m3fnuz, np.int8),
}
_NAMES = {dtype: (name, view) for name, (dtype, view) in _FOREIGN.items()}


def to_tensor(value: Any) -> Any:
    """An array as a tensor over the same memory; lists item by item; other values as they are."""
    if isinstance(value, list):
        return [to_tensor(item) for item in value]
    if not isinstance(value, np.ndarray):
        return value
    if value.dtype.name in _FOREIGN:
        dtype, view = _FOREIGN[value.dtype.name]
        return torch.from_numpy(value.view(view)).view(dtype)
    return torch.from_numpy(value)


def to_array(value: Any) -> Any:
    """A tensor as an array over the same memory; sequences item by item; others as they are."""
    if isinstance(value, (list, tuple)):
        return [to_array(item) for item in value]
    if not isinstance(value, torch.Tensor):
        return value
    if value.dtype in _NAMES:
        import ml_dtypes

        name, view = _NAMES[value.dtype]
        integers = value.view(torch.int16 if view is np.int16 else torch.int8)
        return integers.numpy().view(getattr(ml_dtypes, name))
    return value.numpy()
