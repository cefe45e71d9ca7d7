"""Variables of an OpenVINO model, which hold its states."""

from __future__ import annotations

from math import prod
from typing import Any


def variable_bytes(model: Any) -> int:
    """Bytes that a call writes to assign every variable: OpenVINO assigns whole ones."""
    infos = [variable.get_info() for variable in model.get_variables()]
    return sum(prod(info.data_shape.to_shape()) * info.data_type.size for info in infos)
